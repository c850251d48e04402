// User name and password for the API: when they are sent, from where they are read, and that nothing shows them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseCheck } from '../../../src/model/check.ts';
import { credentialsFrom } from '../../../src/patroni/credentials.ts';
import { createProbe } from '../../../src/patroni/probe.ts';
import { createReader } from '../../../src/patroni/read-documents.ts';
import { requestOf } from '../../../src/patroni/write-requests.ts';
import { createWrite } from '../../../src/patroni/write.ts';
import { startGuardedApi } from '../../support/fakes/guarded-api.ts';
import type { GuardedApi } from '../../support/fakes/guarded-api.ts';

const SECRET = 'pässword';
const RELOAD = requestOf({ kind: 'reload' });
const directory = mkdtempSync(join(tmpdir(), 'pointsman-auth-'));
const passwordFile = join(directory, 'password');

let fake: GuardedApi;

beforeEach(async () => {
  fake = await startGuardedApi();
  fake.credentials = `admin:${SECRET}`;
  writeFileSync(passwordFile, `${SECRET}\n`);
});
afterEach(() => fake.stop());
afterAll(() => rmSync(directory, { recursive: true }));

function fromFile(file = passwordFile) {
  return { credentials: credentialsFrom({ username: 'admin', password: undefined, passwordFile: file }) };
}

const sent = () => fake.requests.map(({ request, authorization }) => [request, authorization !== undefined]);

describe('a write request', () => {
  test('carries the credentials at once', async () => {
    expect(await createWrite(fromFile())(fake.api, RELOAD)).toMatchObject({ kind: 'answered', status: 200 });
    expect(sent()).toEqual([['POST /reload', true]]);
  });

  test('an answer that repeats them is shown without them', async () => {
    const pair = Buffer.from(`admin:${SECRET}`).toString('base64');
    const body = `no ${SECRET} of Basic ${pair}, ${encodeURIComponent(SECRET)}: no`;
    fake.answer = () => ({ status: 412, text: body });
    const answer = await createWrite(fromFile())(fake.api, RELOAD);
    expect(answer).toMatchObject({ reason: 'no *** of Basic ***, ***: no' });
  });

  test('an answer that repeats a password which has changed since is shown without it', async () => {
    fake.answer = () => {
      writeFileSync(passwordFile, 'next');
      return { status: 412, text: `no ${SECRET}` };
    };
    expect(await createWrite(fromFile())(fake.api, RELOAD)).toMatchObject({ reason: 'no ***' });
  });

  test('no part of them is shown where a long answer is cut', async () => {
    const markup = '<b></b>'.padEnd(8_000 - SECRET.length + 1);
    fake.answer = () => ({ status: 412, text: `${markup}${SECRET}` });
    expect(await createWrite(fromFile())(fake.api, RELOAD)).toMatchObject({ reason: '***' });
  });

  test('reads the password file anew each time', async () => {
    const write = createWrite(fromFile());
    fake.credentials = 'admin:next';
    expect(await write(fake.api, RELOAD)).toMatchObject({ status: 401 });
    writeFileSync(passwordFile, 'next');
    expect(await write(fake.api, RELOAD)).toMatchObject({ status: 200 });
  });

  test('is not sent without the password', async () => {
    const gone = join(directory, 'gone');
    const answer = await createWrite(fromFile(gone))(fake.api, RELOAD);
    expect(answer).toEqual({ kind: 'no_answer', why: expect.stringContaining(gone), isSent: false });
    const none = credentialsFrom({ username: 'admin', password: undefined, passwordFile: undefined });
    const without = await createWrite({ credentials: none })(fake.api, RELOAD);
    expect(without).toMatchObject({ isSent: false, why: expect.stringContaining('cluster.api.auth has no password') });
    expect(fake.requests).toEqual([]);
  });

  test('carries its body as JSON, and no body where there is none', async () => {
    const write = createWrite({});
    fake.credentials = undefined;
    await write(fake.api, requestOf({ kind: 'patch_config', changes: { ttl: 40, name: 'ü' } }));
    await write(fake.api, requestOf({ kind: 'restart' }));
    await write(fake.api, requestOf({ kind: 'reinitialize', from_leader: true }));
    expect(fake.requests.map(({ request, body }) => `${request} ${body}`)).toEqual([
      'PATCH /config {"ttl":40,"name":"ü"}',
      'POST /restart ',
      'POST /reinitialize {"from_leader":true,"from-leader":true}',
    ]);
  });
});

describe('a GET', () => {
  test('carries no credentials to an API that answers without', async () => {
    await createReader(fromFile()).readConfig(fake.api, 2000);
    expect(sent()).toEqual([['GET /config', false]]);
  });

  test('carries them after a 401, and from then on at once', async () => {
    fake.guards = 'everything';
    const reader = createReader(fromFile());
    expect(await reader.readConfig(fake.api, 2000)).toMatchObject({ kind: 'config' });
    expect(await reader.readConfig(fake.api, 2000)).toMatchObject({ kind: 'config' });
    const get = 'GET /config';
    expect(sent()).toEqual([
      [get, false],
      [get, true],
      [get, true],
    ]);
  });

  test('has the reason when there are none, or they are wrong', async () => {
    fake.guards = 'everything';
    const detail = async (access: object) => await createReader(access).readConfig(fake.api, 2000);
    expect(await detail({})).toMatchObject({
      kind: 'failed',
      detail: '/config answered status 401: the API needs credentials (cluster.api.auth)',
    });
    writeFileSync(passwordFile, 'wrong');
    expect(await detail(fromFile())).toMatchObject({
      detail: '/config answered status 401: the API does not accept the credentials (cluster.api.auth)',
    });
  });
});

describe('a probe', () => {
  const parsed = parseCheck('/primary');
  const probe = (access: object) => {
    if (parsed.kind !== 'check') throw new Error(parsed.message);
    const member = { name: 'pg-1', api: fake.api, postgres: undefined, origin: 'configured' } as const;
    return createProbe(access)(member, parsed.check, 2000);
  };

  test('of an API that answers 401 is no evidence and names the setting', async () => {
    fake.guards = 'everything';
    expect(await probe({})).toEqual({
      kind: 'failed',
      cause: 'unexpected_status',
      detail: 'status 401: the API needs credentials (cluster.api.auth)',
      postgres: 'unknown',
    });
  });

  test('succeeds with the credentials', async () => {
    fake.guards = 'everything';
    expect(await probe(fromFile())).toMatchObject({ kind: 'answered', status: 200 });
  });
});

test('no result shows the password', async () => {
  fake.credentials = 'admin:other';
  const write = createWrite(fromFile());
  const results = [await write(fake.api, RELOAD)];
  await fake.stop();
  results.push(await write(fake.api, RELOAD));
  fake = await startGuardedApi();
  const base64 = Buffer.from(`admin:${SECRET}`).toString('base64');
  for (const text of [SECRET, base64]) expect(JSON.stringify(results)).not.toContain(text);
});

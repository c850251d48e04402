// Every answer of the whole program validates against the schema that describes it, and has nothing beyond it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { endpointsOf } from '../../../src/admin/endpoints/endpoints.ts';
import { validate, type DescribedAnswer } from '../../support/documents/described-answer.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { AppLab, FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import { addressText } from '../../../src/model/member.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef-operator';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', accept: 'application/json' };
let cluster: FakeCluster;
let lab: AppLab;
let directory: string;
let client: RawClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-admin-documents-'));
  await writeFile(join(directory, 'token'), TOKEN);
  cluster = await FakeCluster.start();
  const [writes, reads] = await freeAddresses(2);
  if (writes === undefined || reads === undefined) throw new Error('no free ports');
  lab = await AppLab.start({
    cluster: cluster.section(),
    listeners: [
      { address: addressText(writes), pool: 'write' },
      { address: addressText(reads), pool: 'read' },
    ],
    admin: { address: '127.0.0.1:0', token_file: join(directory, 'token') },
  });
  client = await connectRaw(writes);
  client.socket.write(aStartup());
  await until('the session', async () => /"relaying": 1/.test(await (await fetch(`${lab.admin}/status`)).text()));
});

afterAll(async () => {
  client.socket.destroy();
  await lab.app.stop();
  await cluster.stop();
  await rm(directory, { recursive: true });
});

async function ask(method: string, path: string, body: object = {}): Promise<DescribedAnswer> {
  const sent = method === 'POST' ? { body: JSON.stringify(body) } : {};
  const response = await fetch(`${lab.admin}${path}`, { method, headers: HEADERS, ...sent });
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
}

const JSON_DOCUMENTS = endpointsOf(adminOptions())
  .filter(({ method, path }) => method === 'GET' && !['/livez', '/readyz', '/metrics', '/openapi.json'].includes(path))
  .map(({ path }) => path);

describe('documents', () => {
  test.each(JSON_DOCUMENTS)('GET %s', async (path) => {
    validate(`GET ${path}`, await ask('GET', path.replace('NAME', 'write').replace('ID', 'none')));
  });

  test('the ones that have nothing to show', async () => {
    validate('GET /pools/NAME', await ask('GET', '/pools/none'));
    validate('GET /sessions', await ask('GET', '/sessions?pool=none'));
    validate('GET /events', await ask('GET', '/events?after=r0-1'));
    validate('GET /events', await ask('GET', '/events?limit=x'));
  });

  test('the configuration has no secret, and the source of the status', async () => {
    const { body } = await ask('GET', '/config');
    expect(JSON.stringify(body)).not.toContain(TOKEN);
    const { body: status } = await ask('GET', '/status');
    expect(status['config']).toMatchObject({
      hash: body['hash'],
      source: body['source'],
      loaded_at: body['loaded_at'],
    });
  });

  test('the description is that of this program', async () => {
    const response = await fetch(`${lab.admin}/openapi.json`);
    expect(await response.json()).toMatchObject({ openapi: '3.1.0', paths: { '/status': {}, '/pools/{name}': {} } });
  });

  test('recent events have the sentences of the log', async () => {
    const { body } = await ask('GET', '/events?event=route_changed');
    const logged = lab.said('route_changed').map(({ msg }) => msg);
    expect(
      z
        .array(z.looseObject({ message: z.string() }))
        .parse(body['events'])
        .map(({ message }) => message),
    ).toEqual(logged);
  });
});

test.each([
  ['POST /refresh', '/refresh'],
  ['POST /refresh', '/refresh'],
  ['POST /reload', '/reload'],
  ['POST /members/NAME/drain', '/members/pg-2/drain'],
  ['POST /members/NAME/resume', '/members/pg-2/resume'],
  ['POST /members/NAME/drain', '/members/none/drain'],
  ['POST /accept/timeline', '/accept/timeline'],
  ['POST /cluster/pause', '/cluster/pause?dry_run=true'],
  ['POST /cluster/reload', '/cluster/reload'],
  ['POST /sessions/ID/kill', '/sessions/999999/kill'],
  ['POST /operations/ID/cancel', '/operations/none/cancel'],
])('%s: the answer to POST %s', async (key, path) => {
  validate(key, await ask('POST', path));
});

test('the end of a session', async () => {
  const { body } = await ask('GET', '/sessions');
  const [session] = z.array(z.looseObject({ id: z.number() })).parse(body['sessions']);
  const answer = await ask('POST', `/sessions/${session?.id}/kill`);
  expect(answer.status).toBe(200);
  validate('POST /sessions/ID/kill', answer);
});

test('a reload that changes a value: another hash and another time', async () => {
  const before = z.looseObject({ hash: z.string() }).parse((await ask('GET', '/config')).body);
  await lab.reload({ ...lab.file, probe: { interval: '2s' } });
  const after = z.looseObject({ hash: z.string() }).parse((await ask('GET', '/config')).body);
  expect(after.hash).not.toBe(before.hash);
});

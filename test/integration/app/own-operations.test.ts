// Operations on the whole program, over HTTP with a token, as from an operator or a callback.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressText } from '../../../src/model/member.ts';
import type { Address } from '../../../src/model/member.ts';
import { AppLab, FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = 'an operator keeps this to himself'.replaceAll(' ', '-');
let cluster: FakeCluster;
let lab: AppLab;
let writes: Address;
let reads: Address;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-operations-'));
  await writeFile(join(directory, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  cluster = await FakeCluster.start();
  const [a, b] = await freeAddresses(2);
  if (a === undefined || b === undefined) throw new Error('no free ports');
  [writes, reads] = [a, b];
  lab = await AppLab.start(file());
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
  await rm(directory, { recursive: true });
});

function file(changes: ConfigFile = {}): ConfigFile {
  return {
    cluster: cluster.section(),
    pools: { read: { fallback: 'none', on_leave: { operator: 'close' } } },
    listeners: [
      { address: addressText(writes), pool: 'write' },
      { address: addressText(reads), pool: 'read' },
    ],
    admin: { address: '127.0.0.1:0', token_file: join(directory, 'token') },
    ...changes,
  };
}

async function post(path: string, token = TOKEN): Promise<{ readonly status: number; readonly body: unknown }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${lab.admin}${path}`, { method: 'POST', headers, body: '{}' });
  const { api_version: version, ...body }: Record<string, unknown> = z.looseObject({}).parse(await response.json());
  expect(version).toBe(1);
  return { status: response.status, body };
}

async function aSession(at: Address): Promise<RawClient> {
  const client = await connectRaw(at);
  client.socket.write(aStartup());
  await until('the session', () => client.received().length === aStartup().length);
  return client;
}

test('a drained replica: its sessions end; until the resume new clients read the origin of the drain', async () => {
  const [reader, writer] = [await aSession(reads), await aSession(writes)];
  expect(await post('/members/pg-2/drain')).toEqual({
    status: 200,
    body: {
      member: 'pg-2',
      drained: true,
      pools: {
        write: 'open on pg-1',
        read: 'no eligible member, clients are refused',
      },
    },
  });
  await until('the end of the session', () => reader.isClosed);
  expect(lab.reasons()).toEqual(['evicted_operator']);
  expect(writer.isClosed).toBe(false);

  const refused = await connectRaw(reads);
  refused.socket.write(aStartup());
  const error = await until('the refusal', () => errorFields(refused.received()));
  expect(error).toMatchObject({ C: '57P03', D: expect.stringContaining('pg-2 (drained by the operator ') });
  expect(await lab.metric('pointsman_member_drained{member="pg-2"}')).toBe(1);
  const status: unknown = await (await fetch(`${lab.admin}/status`)).json();
  expect(status).toMatchObject({
    cluster: { drained: ['pg-2'] },
    members: [{ name: 'pg-1' }, { name: 'pg-2', drained: {}, pools: { read: { cause: 'operator' } } }],
  });

  expect(await post('/members/pg-2/resume')).toMatchObject({
    status: 200,
    body: { was_drained: true, pools: { read: 'open on pg-2' } },
  });
  expect(await post('/members/pg-2/resume')).toMatchObject({ status: 200, body: { was_drained: false } });
  await aSession(reads);
  expect(await lab.metric('pointsman_member_drained{member="pg-2"}')).toBe(0);
});

test('a drained primary: new clients wait, and are served once it is resumed', async () => {
  await post('/members/pg-1/drain');
  const client = await connectRaw(writes);
  client.socket.write(aStartup());
  await until('the hold', () => lab.said('route_changed').some(({ cause }) => cause === 'drained'));
  expect(cluster.replica.postgres.connections.length).toBe(0);
  await post('/members/pg-1/resume');
  await until('the session', () => client.received().length === aStartup().length);
});

test('G16: a drain is forgotten when the process ends', async () => {
  await post('/members/pg-2/drain');
  await lab.app.stop();
  lab = await AppLab.start(file());
  await aSession(reads);
});

test('unknown members, wrong tokens, a rotated token', async () => {
  expect(await post('/members/pg-9/drain')).toEqual({
    status: 404,
    body: { error: 'unknown member pg-9: did you mean pg-1? The members are pg-1, pg-2' },
  });
  expect((await post('/refresh', 'somebody-elses-token')).status).toBe(401);
  await writeFile(join(directory, 'token'), 'another-token-of-the-operator');
  expect((await post('/refresh')).status).toBe(401);
  expect(await post('/refresh', 'another-token-of-the-operator')).toEqual({ status: 200, body: { merged: false } });
  await writeFile(join(directory, 'token'), 'short');
  expect(await post('/refresh')).toMatchObject({
    status: 403,
    body: {
      error: expect.stringMatching(/^operations are disabled: admin\.token_file .* is too short to be a secret/),
    },
  });
});

test('a missing token file is reported when the program starts', async () => {
  await lab.app.stop();
  lab = await AppLab.start(file({ admin: { address: '127.0.0.1:0', token_file: join(directory, 'gone') } }));
  expect(lab.said('token_unusable')).toMatchObject([
    {
      level: 'warn',
      msg: expect.stringMatching(
        /^operations are disabled: admin\.token_file .*gone cannot be read: there is no such file$/,
      ),
    },
  ]);
});

test('/refresh is merged with another one just before', async () => {
  expect((await post('/refresh')).body).toEqual({ merged: false });
  expect((await post('/refresh')).body).toEqual({ merged: true });
  expect(await lab.metric('pointsman_refreshes_total{outcome="probed"}')).toBe(1);
  expect(await lab.metric('pointsman_refreshes_total{outcome="merged"}')).toBe(1);
});

test('/reload returns the changes, the settings that need a restart, or every problem', async () => {
  lab.file = file({ probe: { interval: '2s' }, log: { format: 'json' } });
  expect(await post('/reload')).toEqual({
    status: 200,
    body: { changed: ['probe.interval 1s -> 2s'], needs_restart: ['log.format auto -> json'], warnings: [] },
  });
  lab.file = file({ probe: { interval: 5 } });
  expect(await post('/reload')).toEqual({
    status: 409,
    body: {
      error: 'nothing changed',
      problems: [expect.stringContaining('probe.interval: 5 has no unit')],
    },
  });
});

test('the token is in no log line, status or metric, also when a reload brings another one', async () => {
  const next = 'written-in-the-file-itself';
  lab.file = file({ admin: { address: '127.0.0.1:0', token: next } });
  expect(await post('/reload')).toMatchObject({
    body: { changed: [expect.stringMatching(/^admin\.token_file .* -> none$/), 'admin.token'] },
  });
  expect((await post('/refresh', next)).status).toBe(200);
  const pages = await Promise.all(
    ['/status', '/metrics'].map(async (path) => (await fetch(`${lab.admin}${path}`)).text()),
  );
  const said = [JSON.stringify(lab.lines), ...pages].join('\n');
  expect(said).not.toContain(TOKEN);
  expect(said).not.toContain(next);
});

test('a primary on a lower timeline is refused and shown, until an operator accepts it', async () => {
  const nothing = await post('/accept/timeline');
  expect(nothing).toEqual({
    status: 409,
    body: { error: 'nothing to accept: no primary is refused for its timeline' },
  });
  cluster.primary.api.set({ role: 'replica', hasLock: false, timeline: 2 });
  cluster.replica.api.set({ role: 'primary', hasLock: true, timeline: 2 });
  await until('the switchover', () => lab.said('route_changed').some(({ msg }) => msg === 'pool write: open on pg-2'));
  cluster.replica.api.set({ role: 'replica', hasLock: false });
  cluster.primary.api.set({ role: 'primary', hasLock: true, timeline: 1 });
  const [line] = await until('the refusal', () => {
    const lines = lab.said('primary_refused');
    return lines.length > 0 ? lines : undefined;
  });
  expect(line).toMatchObject({ level: 'error', member: 'pg-1', refusal: 'timeline' });
  expect(await lab.metric('pointsman_primary_refused{reason="timeline"}')).toBe(1);
  const status: unknown = await (await fetch(`${lab.admin}/status`)).json();
  expect(status).toMatchObject({
    cluster: {
      timeline: 2,
      refused_primaries: [
        {
          member: 'pg-1',
          refused_for: 'timeline',
          shown: 'timeline 1',
          expected: 'timeline 2',
          why: 'claims to be primary with timeline 1, but timeline 2 was seen before',
          ends_by: [expect.stringContaining('(missing: '), 'pointsman accept timeline'],
        },
      ],
    },
  });

  const accepted = await post('/accept/timeline');
  expect(accepted).toMatchObject({
    status: 200,
    body: { member: 'pg-1', accepted: 'timeline 1 instead of timeline 2', pools: { write: 'open on pg-1' } },
  });
  const client = await aSession(writes);
  expect(client.isClosed).toBe(false);
  client.socket.destroy();
  expect(await lab.metric('pointsman_primary_refused{reason="timeline"}')).toBe(0);
  expect(await lab.metric('pointsman_primary_acceptances_total{reason="timeline",by="operator"}')).toBe(1);
  expect(lab.said('primary_accepted')).toMatchObject([{ level: 'warn', by: 'operator' }]);
});

// The cluster through a running Pointsman: both ends over a real socket. Every answer of the control behind it arrives
// unchanged.
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAdmin } from '../../../../src/admin/admin-server.ts';
import type { Admin } from '../../../../src/admin/admin-server.ts';
import { controlByAdmin } from '../../../../src/cli/cluster/by-admin.ts';
import type { ClusterControl, ClusterOperation } from '../../../../src/cluster/control.ts';
import type { OperationResult } from '../../../../src/documents/cluster-documents.ts';
import { validate } from '../../../support/documents/described-answer.ts';
import { adminOptions } from '../../../support/fakes/admin-options.ts';
import { fakeControl } from '../../../support/fakes/fake-control.ts';
import type { FakeControl } from '../../../support/fakes/fake-control.ts';
import { listen } from '../../../support/sockets/listen.ts';
import { until } from '../../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef-operator';
let admin: Admin;
let port: number;
let behind: FakeControl;
let control: ClusterControl;

function controlAt(port: number, token: string | undefined): ClusterControl {
  const address = { host: '127.0.0.1', port };
  return controlByAdmin({
    address,
    isTls: false,
    admin: { address, allowedHosts: [], token, tokenFile: undefined, console: undefined },
  });
}

beforeEach(async () => {
  behind = fakeControl();
  const token = () => Promise.resolve({ kind: 'token', value: TOKEN } as const);
  admin = createAdmin(adminOptions({ token, cluster: () => Promise.resolve(behind) }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
  control = controlAt(port, TOKEN);
});

afterEach(() => admin.close());

const SWITCHOVER: ClusterOperation = { kind: 'switchover', leader: 'pg-1', candidate: 'pg-2' };

describe('documents', () => {
  test('the report, the history and the configuration', async () => {
    expect(control.source()).toBe(`the Pointsman at 127.0.0.1:${port}`);
    expect(await control.report()).toEqual(await behind.report());
    expect(await control.history()).toEqual(await behind.history());
    expect(await control.config()).toEqual(await behind.config());
  });

  test('the reason why there is none', async () => {
    behind.isReadable = false;
    for (const read of [control.report, control.history, control.config, () => control.plan(SWITCHOVER)]) {
      expect(await read()).toEqual({ kind: 'unreadable', why: 'no seed answers' });
    }
  });

  test('no Pointsman there, and one of another version', async () => {
    // Another test may have taken a port that this one has given back.
    expect(await controlAt(1, TOKEN).report()).toMatchObject({ why: expect.stringContaining('connection refused') });
    const other = createServer((_, response) => response.writeHead(404).end('{}'));
    const elsewhere = await listen(other);
    expect(await controlAt(elsewhere, TOKEN).report()).toEqual({
      kind: 'unreadable',
      why: `the Pointsman at 127.0.0.1:${elsewhere} answers with HTTP status 404: it may be of another version`,
    });
    other.close();
  });
});

describe('operations', () => {
  const OPERATIONS: readonly ClusterOperation[] = [
    SWITCHOVER,
    { kind: 'switchover', leader: 'pg-1', scheduled_at: '2026-12-01T02:00:00+00:00' },
    { kind: 'cancel_switchover' },
    { kind: 'failover', candidate: 'pg-2' },
    { kind: 'failover', candidate: 'pg-2', leader: 'pg-1' },
    { kind: 'restart', member: 'pg-2' },
    {
      kind: 'restart',
      member: 'pg-2',
      restart_pending: true,
      role: 'replica',
      postgres_version: '15.4',
      timeout: '30s',
      schedule: '2026-12-01T02:00:00+00:00',
    },
    { kind: 'restart', member: 'pg-2', any_order: true },
    { kind: 'cancel_restart', member: 'pg-2' },
    { kind: 'reload', member: 'pg-2' },
    { kind: 'reinitialize', member: 'pg-2', force: true, from_leader: true },
    { kind: 'patch_config', changes: { ttl: null, postgresql: { parameters: { work_mem: '8MB' } } } },
    { kind: 'replace_config', config: { ttl: 30 } },
    { kind: 'pause' },
    { kind: 'resume' },
  ];

  test.each(OPERATIONS)('%j arrives unchanged; a plan performs nothing', async (operation) => {
    expect(await control.plan(operation)).toEqual(await behind.plan(operation));
    expect(behind.performed).toEqual([]);
    expect(await control.perform(operation)).toEqual({ kind: 'done', text: 'done', reason: 'ok' });
    expect(behind.performed).toEqual([operation]);
  });

  test('a configuration larger than other bodies', async () => {
    const changes = {
      postgresql: { pg_hba: Array.from({ length: 500 }, (_, line) => `host all all 10.0.0.${line}/32`) },
    };
    expect(await control.perform({ kind: 'patch_config', changes })).toMatchObject({ kind: 'done' });
  });

  const RESULTS: readonly (readonly [number, OperationResult])[] = [
    [200, { kind: 'done', text: 'changed', reason: 'ok', config: { ttl: 30 } }],
    [202, { kind: 'scheduled', text: 'scheduled', reason: 'Switchover scheduled' }],
    [400, { kind: 'invalid', status: 400, text: 'pg-1 refuses it', reason: 'Unable to parse' }],
    [412, { kind: 'precondition', status: 412, text: 'not the leader', reason: 'leader name does not match' }],
    [503, { kind: 'failed', status: 503, text: 'it failed', reason: 'Switchover failed' }],
    [502, { kind: 'unauthorized', status: 401, text: 'wrong password', reason: 'wrong username or password' }],
    [502, { kind: 'unexpected', status: 500, text: 'an error', reason: '' }],
    [409, { kind: 'refused', text: 'the standby first' }],
    [504, { kind: 'no_answer', text: 'no answer from pg-1', may_have_happened: true }],
  ];

  test.each(RESULTS)('status %i for %j', async (status, result) => {
    behind.result = () => result;
    expect(await control.perform(SWITCHOVER)).toEqual(result);
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify({ leader: 'pg-1' }) };
    const answer = await fetch(`http://127.0.0.1:${port}/cluster/switchover`, sent);
    expect(answer.status).toBe(status);
    validate('POST /cluster/switchover', {
      status,
      body: z.record(z.string(), z.unknown()).parse(await answer.json()),
    });
  });

  test('another operation is refused meanwhile, by its name; a plan is not', async () => {
    const ended = Promise.withResolvers<OperationResult>();
    behind.result = () => ended.promise;
    const first = control.perform(SWITCHOVER);
    await until('the first operation', () => behind.performed.length === 1);
    expect(await control.perform({ kind: 'pause' })).toMatchObject({
      kind: 'precondition',
      status: 409,
      text: expect.stringContaining('POST /cluster/switchover is running'),
    });
    expect(await control.plan({ kind: 'pause' })).toMatchObject({ kind: 'read' });
    ended.resolve({ kind: 'done', text: 'done', reason: 'ok' });
    expect(await first).toMatchObject({ kind: 'done' });
    expect(await control.perform({ kind: 'pause' })).toMatchObject({ kind: 'done' });
  });

  test('without a token, and with a wrong one, nothing happens', async () => {
    const none = controlAt(port, undefined);
    expect(await none.perform(SWITCHOVER)).toMatchObject({ kind: 'unauthorized', status: 401 });
    const wrong = controlAt(port, 'another-token-of-16');
    expect(await wrong.perform(SWITCHOVER)).toMatchObject({ kind: 'unauthorized', text: 'wrong token' });
    expect(await wrong.plan(SWITCHOVER)).toEqual({ kind: 'unreadable', why: 'wrong token' });
    expect(behind.performed).toEqual([]);
  });

  test('a connection that breaks: the operation may be under way', async () => {
    const server = createServer((request) => request.socket.destroy());
    const elsewhere = await listen(server);
    expect(await controlAt(elsewhere, TOKEN).perform({ kind: 'pause' })).toMatchObject({
      kind: 'no_answer',
      may_have_happened: true,
    });
    server.close();
    await admin.close();
    expect(await control.perform({ kind: 'pause' })).toMatchObject({ kind: 'no_answer', may_have_happened: false });
  });
});

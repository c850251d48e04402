// The API in the manager dialect, over real sockets: every endpoint, every method, every code.
import { afterEach, describe, expect, test } from 'vitest';
import type { ManagerOutcome } from '../../../../src/sandbox/manager/operation-outcomes.ts';
import { startApi } from '../../../support/sandbox/api/api-lab.ts';
import type { ApiLab, LabOptions, Question } from '../../../support/sandbox/api/api-lab.ts';
import { aReplica, aReplicasWal, MB } from '../../../support/sandbox/api/views.ts';

const labs: ApiLab[] = [];

async function start(options: LabOptions = {}): Promise<ApiLab> {
  const lab = await startApi(options);
  labs.push(lab);
  return lab;
}

afterEach(async () => {
  await Promise.all(labs.splice(0).map(({ server }) => server.close()));
});

const HEALTH = [
  '/',
  '/primary',
  '/read-write',
  '/leader',
  '/standby-leader',
  '/replica',
  '/read-only',
  '/synchronous',
  '/sync',
  '/read-only-sync',
  '/quorum',
  '/read-only-quorum',
  '/asynchronous',
  '/async',
  '/health',
  '/liveness',
  '/readiness',
];

describe('health checks', () => {
  const yes = ['/', '/primary', '/read-write', '/leader', '/read-only', '/read-only-sync', '/read-only-quorum'];
  const expected = new Map(HEALTH.map((path) => [path, 503]));
  for (const path of [...yes, '/health', '/liveness', '/readiness']) expected.set(path, 200);

  test.each(HEALTH)('%s of a primary: GET, HEAD and OPTIONS', async (path) => {
    const { ask } = await start();
    const got = await ask(path);
    expect(got.status).toBe(expected.get(path));
    expect(got.type).toBe('application/json');
    expect(JSON.parse(got.text)).toMatchObject({ state: 'running', role: 'primary', manager: { version: '1.2.3' } });
    for (const method of ['HEAD', 'OPTIONS'] as const) {
      expect(await ask(path, { method })).toMatchObject({ status: got.status, text: '' });
    }
  });

  test('parameters arrive: lag, tags, mode', async () => {
    const member = aReplica({ tags: { zone: 'eu 1' }, wal: aReplicasWal({ replayed: 3 * MB }) });
    const { ask } = await start({ member });
    const statusOf = async (path: string): Promise<number> => (await ask(path)).status;
    expect(await statusOf('/replica?lag=1MB')).toBe(503);
    expect(await statusOf('/replica?lag=4MB&tag_zone=eu%201')).toBe(200);
    expect(await statusOf('/replica?tag_zone=eu+2')).toBe(503);
    expect(await statusOf('/readiness?mode=write')).toBe(200);
    expect(await ask('/replica?lag=much')).toMatchObject({
      status: 400,
      text: '{"error":"lag must be bytes or a number with B, kB, MB, GB or TB, not \\"much\\""}',
    });
  });

  test('/liveness does not query PostgreSQL, all others do', async () => {
    const { ask, operations } = await start();
    for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) await ask('/liveness', { method });
    expect(operations.looks).toBe(0);
    await ask('/health');
    expect(operations.looks).toBe(1);
  });

  test('/liveness answers while PostgreSQL stands still, the others wait', async () => {
    const { ask, operations } = await start();
    operations.hold();
    const waiting = ask('/health');
    expect((await ask('/liveness')).status).toBe(200);
    operations.release();
    expect((await waiting).status).toBe(200);
  });
});

describe('read endpoints', () => {
  test('/manager is 200 in any state', async () => {
    const { ask, operations } = await start();
    operations.member = aReplica({ state: 'stopped', wal: undefined });
    const { status, text } = await ask('/manager');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      state: 'stopped',
      manager: { version: '1.2.3', scope: 'demo', name: 'n1' },
    });
  });

  test('/cluster, /history and /config come from the store', async () => {
    const { ask, operations } = await start();
    const json = async (path: string): Promise<unknown> => JSON.parse((await ask(path)).text);
    expect(await json('/cluster')).toMatchObject({ scope: 'demo', members: [{ name: 'n1', role: 'leader' }, {}, {}] });
    expect(await json('/history')).toEqual([]);
    expect(await json('/config')).toEqual(operations.cluster?.config);
    operations.cluster = undefined;
    for (const path of ['/cluster', '/history', '/config']) {
      const text = '{"error":"the configuration store does not answer"}';
      expect(await ask(path)).toMatchObject({ status: 503, type: 'application/json', text });
    }
    expect((await ask('/primary')).status).toBe(200);
    expect((await ask('/manager')).status).toBe(200);
  });

  test('/metrics', async () => {
    const { ask, operations } = await start();
    const { status, type, text } = await ask('/metrics');
    expect(status).toBe(200);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('# TYPE manager_primary gauge\nmanager_primary{scope="demo",name="n1"} 1\n');
    expect(text).toContain('manager_postgres_running{scope="demo",name="n1"} 1\n');
    expect(text).not.toContain('\n\n');
    expect(text).toContain('manager_version{scope="demo",name="n1"} 10203\n');
    expect(text).toContain(
      `manager_postmaster_start_time{scope="demo",name="n1"} ${Date.UTC(2026, 6, 1, 12) / 1000}\n`,
    );
    operations.member = aReplica({ state: 'stopped', wal: undefined, postmasterStartTime: undefined });
    const stopped = (await ask('/metrics')).text;
    expect(stopped).toContain('manager_primary{scope="demo",name="n1"} 0\n');
    expect(stopped).toContain('manager_postgres_running{scope="demo",name="n1"} 0\n');
  });
});

type Case = readonly [method: NonNullable<Question['method']>, path: string, body: unknown, asked: readonly unknown[]];

const AT = '2199-01-01T00:00:00+00:00';
const OPERATIONS: readonly Case[] = [
  ['POST', '/switchover', { leader: 'n1' }, ['switchover', { leader: 'n1' }]],
  ['POST', '/switchover', { leader: 'n1', candidate: 'n2' }, ['switchover', { leader: 'n1', candidate: 'n2' }]],
  ['POST', '/switchover', { leader: 'n1', scheduled_at: AT }, ['switchover', { leader: 'n1', scheduledAt: AT }]],
  ['DELETE', '/switchover', undefined, ['cancelSwitchover']],
  ['POST', '/failover', { candidate: 'n2' }, ['failover', 'n2']],
  ['POST', '/failover', { leader: 'n1', candidate: 'n2' }, ['switchover', { leader: 'n1', candidate: 'n2' }]],
  ['POST', '/restart', undefined, ['restart', {}]],
  ['POST', '/restart', { role: 'primary' }, ['restart', { role: 'primary' }]],
  ['POST', '/restart', { timeout: 9, schedule: AT }, ['scheduleRestart', { timeout: 9 }, AT]],
  ['DELETE', '/restart', undefined, ['cancelRestart']],
  ['POST', '/reload', undefined, ['reload']],
  ['POST', '/reinitialize', undefined, ['reinitialize', { force: false, fromLeader: false }]],
  ['POST', '/reinitialize', { force: true, 'from-leader': true }, ['reinitialize', { force: true, fromLeader: true }]],
];

const CODES: readonly (readonly [ManagerOutcome['kind'], number])[] = [
  ['done', 200],
  ['accepted', 202],
  ['invalid', 400],
  ['refused', 412],
  ['nothing_scheduled', 412],
  ['already_scheduled', 412],
  ['failed', 503],
];

describe.each(OPERATIONS)('%s %s %j', (method, path, body, asked) => {
  test.each(CODES)('%s is %i', async (kind, status) => {
    const { ask, operations } = await start();
    operations.outcome = { kind, text: `it ended ${kind}` };
    const answer = await ask(path, { method, body });
    expect(answer).toMatchObject({ status, type: 'text/plain; charset=utf-8', text: `it ended ${kind}` });
    expect(operations.asked).toEqual([asked]);
  });
});

describe('/config', () => {
  test.each([
    ['PATCH', 'patchConfig'],
    ['PUT', 'putConfig'],
  ] as const)('%s passes the object on and returns the whole configuration', async (method, operation) => {
    const { ask, operations } = await start();
    const body = { loop_wait: 2, postgresql: { parameters: { work_mem: null } } };
    const answer = await ask('/config', { method, body });
    expect(answer).toMatchObject({ status: 200, type: 'application/json' });
    expect(JSON.parse(answer.text)).toEqual({ ttl: 5, ...body });
    expect(operations.asked).toEqual([[operation, body]]);
    operations.outcome = { kind: 'invalid', text: 'ttl must be a number' };
    expect(await ask('/config', { method, body })).toMatchObject({ status: 400, text: 'ttl must be a number' });
    operations.outcome = { kind: 'failed', text: 'the store is down' };
    expect(await ask('/config', { method, body })).toMatchObject({ status: 503, text: 'the store is down' });
  });
});

describe('refused before any effect', () => {
  const BAD = [
    ['PATCH', '/config', '{"ttl": 1.5}', 400, 'ttl must be an integer'],
    ['PUT', '/config', '{"loop_wait": "2"}', 400, 'loop_wait must be an integer'],
    ['PATCH', '/config', '[1]', 400, 'the body is not a JSON object: [1]'],
    ['PUT', '/config', '', 400, 'the body is empty: a JSON object is needed'],
    ['POST', '/switchover', '{"candidate":"n2"}', 400, 'leader is required'],
    ['POST', '/failover', '{}', 400, 'candidate is required'],
    ['POST', '/restart', '{"role":"master"}', 400, 'primary is the word'],
    ['POST', '/restart', '{"schedule":"presently"}', 400, 'Unable to parse scheduled timestamp "presently"'],
    ['POST', '/switchover', '{"leader":"n1","scheduled_at":"2020-01-01T00:00:00Z"}', 400, 'in the past'],
    ['POST', '/reinitialize', '{"force":"yes"}', 400, 'force must be true or false'],
    ['POST', '/nothing', '{}', 404, 'there is no /nothing here'],
  ] as const;
  test.each(BAD)('%s %s %s: %i', async (method, path, body, status, text) => {
    const { ask, operations } = await start();
    const answer = await ask(path, { method, body });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(text);
    expect(operations.asked).toEqual([]);
  });

  const METHODS = [
    ['POST', '/primary', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/', 'GET, HEAD, OPTIONS'],
    ['POST', '/config', 'GET, HEAD, PATCH, PUT'],
    ['GET', '/switchover', 'POST, DELETE'],
    ['GET', '/failover', 'POST'],
    ['GET', '/restart', 'POST, DELETE'],
    ['GET', '/reload', 'POST'],
    ['PUT', '/reinitialize', 'POST'],
    ['POST', '/manager', 'GET, HEAD'],
    ['OPTIONS', '/cluster', 'GET, HEAD'],
  ] as const;
  test.each(METHODS)('%s %s: 405, Allow: %s', async (method, path, allow) => {
    const { ask, operations } = await start();
    const answer = await ask(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe(allow);
    expect(operations.asked).toEqual([]);
  });

  test.each(['/patroni', '/nothing', '/primary/', '/Primary', '/manager/x', '/master'])('GET %s: 404', async (path) => {
    const { ask } = await start();
    expect(await ask(path)).toMatchObject({ status: 404, type: 'application/json' });
  });

  test('a web page changes nothing, with any content type', async () => {
    const { ask, operations } = await start();
    for (const [method, path] of OPERATIONS) {
      for (const origin of ['http://example.org', 'null', 'http://127.0.0.1:8008']) {
        const answer = await ask(path, { method, body: { leader: 'n1', candidate: 'n2' }, headers: { origin } });
        expect(answer.status).toBe(403);
        expect(answer.text).toContain('Origin');
      }
    }
    expect((await ask('/config', { method: 'PATCH', body: {}, headers: { origin: 'null' } })).status).toBe(403);
    expect(operations.asked).toEqual([]);
    expect((await ask('/primary', { headers: { origin: 'http://example.org' } })).status).toBe(200);
  });

  test('a body of more than 1 MB: 413, and the connection can serve another request', async () => {
    const { ask, operations } = await start();
    const body = JSON.stringify({ padding: 'x'.repeat(4 * MB) });
    expect(await ask('/config', { method: 'PATCH', body })).toMatchObject({ status: 413 });
    expect(operations.asked).toEqual([]);
    const fits = JSON.stringify({ padding: 'x'.repeat(MB / 2) });
    expect((await ask('/config', { method: 'PATCH', body: fits })).status).toBe(200);
  });
});

test('an internal error is 500, is reported to the caller of the server, and the next request is served', async () => {
  const { ask, operations, errors } = await start();
  const look = operations.look.bind(operations);
  operations.look = () => Promise.reject(new Error('a bug'));
  expect((await ask('/primary')).status).toBe(500);
  expect(errors).toEqual([new Error('a bug')]);
  operations.look = look;
  expect((await ask('/primary')).status).toBe(200);
});

// The API in Patroni's dialect, byte by byte where clients depend on the bytes, and its finer status codes.
import { once } from 'node:events';
import { connect as connectHalf } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { ManagerOutcome } from '../../../../src/sandbox/manager/operation-outcomes.ts';
import { received, startApi } from '../../../support/sandbox/api/api-lab.ts';
import type { ApiLab, LabOptions, Question } from '../../../support/sandbox/api/api-lab.ts';
import { aReplica, aReplicasWal, MB } from '../../../support/sandbox/api/views.ts';
import { until } from '../../../support/waiting/until.ts';

const labs: ApiLab[] = [];

async function start(options: LabOptions = {}): Promise<ApiLab> {
  const lab = await startApi({ dialect: 'patroni', ...options });
  labs.push(lab);
  return lab;
}

afterEach(async () => {
  await Promise.all(labs.splice(0).map(({ server }) => server.close()));
});

const OK = 'HTTP/1.0 200 OK\r\n\r\n';
const NO = 'HTTP/1.0 503 Service Unavailable\r\n\r\n';

const BARE = [
  ['OPTIONS /primary HTTP/1.0\r\n\r\n', OK],
  ['OPTIONS /replica HTTP/1.0\r\n\r\n', NO],
  ['HEAD /primary HTTP/1.1\r\nHost: n1\r\n\r\n', OK],
  ['HEAD /replica HTTP/1.1\r\nHost: n1\r\nConnection: keep-alive\r\n\r\n', NO],
  ['OPTIONS /primary HTTP/1.1\r\n\r\n', OK],
  ['GET /liveness HTTP/1.1\r\nHost: n1\r\n\r\n', OK],
  ['GET /readiness HTTP/1.1\r\nHost: n1\r\n\r\n', OK],
  ['HEAD /liveness HTTP/1.1\r\nHost: n1\r\n\r\n', NO],
  ['HEAD /patroni HTTP/1.1\r\nHost: n1\r\n\r\n', NO],
] as const;

test.each(BARE)('%j is answered by a status line alone', async (request, answer) => {
  const { bytes } = await start();
  expect(await bytes(request)).toBe(answer);
});

test('GET: HTTP/1.0, no length, the end of the connection ends the body', async () => {
  const { bytes } = await start();
  const answer = await bytes('GET /primary HTTP/1.1\r\nHost: n1\r\nConnection: keep-alive\r\n\r\n');
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [line, ...headers] = head.split('\r\n');
  expect(line).toBe('HTTP/1.0 200 OK');
  expect(headers.map((header) => header.split(':')[0])).toEqual(['Server', 'Date', 'Content-Type']);
  expect(headers[0]).toMatch(/^Server: BaseHTTP\/0\.6 Python\//);
  expect(headers[2]).toBe('Content-Type: application/json');
  expect(JSON.parse(body)).toMatchObject({ role: 'primary', patroni: { version: '1.2.3', scope: 'demo', name: 'n1' } });
});

test('one answer per connection, for any later bytes', async () => {
  const { bytes, connect, operations } = await start();
  const twice = 'OPTIONS /primary HTTP/1.1\r\n\r\n'.repeat(2);
  expect(await bytes(twice)).toBe(OK);
  operations.hold();
  const slow = bytes('GET /primary HTTP/1.1\r\n\r\nGET /liveness HTTP/1.1\r\n\r\n');
  await until('it looks', () => operations.looks === 2);
  // Time for the second answer to overtake.
  expect(await bytes('GET /liveness HTTP/1.1\r\n\r\n')).toBe(OK);
  operations.release();
  expect(await slow).toContain('"state":"running"');
  const socket = await connect();
  socket.write('OPTIONS /prim');
  socket.write('ary HTTP/1.0\r\n\r\n');
  expect(await received(socket)).toBe(OK);
});

test('the connection ends even when the client leaves its half open', async () => {
  const { port } = await start();
  const socket = connectHalf({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write('OPTIONS /primary HTTP/1.0\r\n\r\n');
  socket.resume();
  await once(socket, 'end');
  // A reset shows only after a write; HTTP servers accept an empty line.
  await until('nobody is there', () => {
    socket.write('\r\n');
    return socket.destroyed;
  });
});

test('paths match by first segment and by substrings; an unknown one is 503 with the status document', async () => {
  const { ask } = await start();
  const cases = [
    ['/', 200],
    ['/master', 200],
    ['/any/primary', 200],
    ['/patroni', 200],
    ['/patroni/anything', 200],
    ['/manager', 503],
    ['/nothing', 503],
    ['/switchover', 503],
  ] as const;
  for (const [path, status] of cases) {
    const answer = await ask(path);
    expect(`${path} ${answer.status}`).toBe(`${path} ${status}`);
    expect(JSON.parse(answer.text)).toHaveProperty('patroni');
  }
});

test('documents: api_url ends in /patroni, metrics begin with patroni_', async () => {
  const { ask, operations } = await start();
  const cluster: unknown = JSON.parse((await ask('/cluster')).text);
  expect(cluster).toHaveProperty('members.0.api_url', 'http://127.0.0.1:8008/patroni');
  const metrics = (await ask('/metrics')).text;
  expect(metrics).toContain('patroni_primary{scope="demo",name="n1"} 1\n');
  expect(metrics).not.toContain('manager_');
  operations.cluster = undefined;
  expect((await ask('/cluster')).status).toBe(503);
});

test('an unsafe method without a handler is 501 in HTML', async () => {
  const { bytes, ask } = await start();
  const answer = await bytes('POST /primary HTTP/1.1\r\nHost: n1\r\nContent-Length: 0\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.0 501 Not Implemented\r\n/);
  expect(answer).toContain('Content-Type: text/html;charset=utf-8\r\n');
  expect(answer).toContain("<p>Message: Unsupported method ('POST').</p>");
  expect((await ask('/restart', { method: 'PUT' })).status).toBe(501);
});

const ENDS: readonly (readonly [
  NonNullable<Question['method']>,
  string,
  unknown,
  Partial<Record<ManagerOutcome['kind'], number>>,
])[] = [
  ['POST', '/switchover', { leader: 'n1' }, { done: 200, accepted: 202, invalid: 400, refused: 412, failed: 503 }],
  ['POST', '/failover', { candidate: 'n2' }, { done: 200, refused: 412, failed: 503 }],
  ['DELETE', '/switchover', undefined, { done: 200, nothing_scheduled: 404, failed: 503 }],
  ['POST', '/restart', {}, { done: 200, refused: 503, failed: 503 }],
  ['POST', '/restart', { schedule: '2199-01-01T00:00:00Z' }, { accepted: 202, already_scheduled: 409 }],
  ['DELETE', '/restart', undefined, { done: 200, nothing_scheduled: 404 }],
  ['POST', '/reload', undefined, { done: 202, failed: 503 }],
  ['POST', '/reinitialize', undefined, { done: 200, refused: 503, failed: 503 }],
];

describe.each(ENDS)('%s %s %j', (method, path, body, codes) => {
  test.each(Object.entries(codes))('%s is %i', async (kind, status) => {
    const { ask, operations } = await start();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets what keys there are
    operations.outcome = { kind: kind as ManagerOutcome['kind'], text: 'it ended so' };
    expect(await ask(path, { method, body })).toMatchObject({ status, type: 'text/html', text: 'it ended so' });
    expect(operations.asked).toHaveLength(1);
  });
});

test('a schedule that is past or invalid is 422, one without an offset 400', async () => {
  const { ask, operations } = await start();
  const post = async (path: string, body: unknown): Promise<number> =>
    (await ask(path, { method: 'POST', body })).status;
  for (const at of ['2020-01-01T00:00:00Z', 'presently']) {
    expect(await post('/switchover', { leader: 'n1', scheduled_at: at })).toBe(422);
    expect(await post('/restart', { schedule: at })).toBe(422);
  }
  expect(await post('/restart', { schedule: '2199-01-01T00:00:00' })).toBe(400);
  expect(await post('/restart', { role: 'master' })).toBe(400);
  expect(operations.asked).toEqual([]);
});

test('an invalid lag is ignored, and a valid one counts at /read-only', async () => {
  const { ask } = await start({ member: aReplica({ wal: aReplicasWal({ replayed: 3 * MB }) }) });
  expect((await ask('/replica?lag=much')).status).toBe(200);
  expect((await ask('/read-only?lag=4MB')).status).toBe(200);
  expect((await ask('/read-only?lag=1MB')).status).toBe(503);
});

test('an Origin, and a body of more than 1 MB', async () => {
  const { ask, operations } = await start();
  expect((await ask('/reload', { method: 'POST', headers: { origin: 'http://example.org' } })).status).toBe(403);
  const body = JSON.stringify({ padding: 'x'.repeat(4 * MB) });
  expect((await ask('/config', { method: 'PATCH', body })).status).toBe(413);
  expect(operations.asked).toEqual([]);
});

test('input that is not HTTP is 400 in HTML, and the connection ends', async () => {
  const { bytes } = await start();
  expect(await bytes('\x00\x00\x00\x08\x04\xd2\x16\x2f')).toMatch(/^HTTP\/1\.0 400 Bad Request\r\n/);
});

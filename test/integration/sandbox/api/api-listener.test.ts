// The server in both dialects: frozen and thawed, slow and silent clients, its end; also Pointsman's own probe and
// reader against it.
import { afterEach, describe, expect, test } from 'vitest';
import { parseCheck } from '../../../../src/model/check.ts';
import { createProbe } from '../../../../src/patroni/probe.ts';
import { createReader } from '../../../../src/patroni/read-documents.ts';
import { closed, received, startApi } from '../../../support/sandbox/api/api-lab.ts';
import type { ApiLab, LabOptions } from '../../../support/sandbox/api/api-lab.ts';
import { aReplica } from '../../../support/sandbox/api/views.ts';
import { until } from '../../../support/waiting/until.ts';

const labs: ApiLab[] = [];

async function start(options: LabOptions = {}): Promise<ApiLab> {
  const lab = await startApi(options);
  labs.push(lab);
  return lab;
}

afterEach(async () => {
  await Promise.all(labs.splice(0).map(({ server }) => server.close()));
});

const probe = createProbe();

function ask(lab: ApiLab, text: string, deadlineMs = 2_000): ReturnType<typeof probe> {
  const parsed = parseCheck(text);
  if (parsed.kind !== 'check') throw new Error(parsed.message);
  const api = { url: lab.url, address: { host: '127.0.0.1', port: lab.port } };
  return probe({ name: 'n1', api, postgres: undefined, origin: 'configured' }, parsed.check, deadlineMs);
}

/**
 * Whether no answer came, under any load of this machine. The probe reports `local` when it may have slept through the
 * answer.
 */
async function isSilent(lab: ApiLab, text: string, deadlineMs: number): Promise<boolean> {
  const outcome = await ask(lab, text, deadlineMs);
  return outcome.kind === 'failed' && (outcome.cause === 'timeout' || outcome.cause === 'local');
}

describe.each(['manager', 'patroni'] as const)('%s', (dialect) => {
  test('frozen: connections are accepted, no request is answered; thawed: all are', async () => {
    const lab = await start({ dialect });
    const early = await lab.connect();
    lab.server.freeze();
    early.write('GET /primary HTTP/1.1\r\nHost: n1\r\nConnection: close\r\n\r\n');
    const late = lab.bytes('OPTIONS /primary HTTP/1.1\r\nHost: n1\r\nConnection: close\r\n\r\n');
    expect(await isSilent(lab, '/primary', 200)).toBe(true);
    expect(await isSilent(lab, '/liveness', 100)).toBe(true);
    expect(lab.operations.looks).toBe(0);
    expect(early.bytesRead).toBe(0);
    lab.server.thaw();
    expect(await received(early)).toMatch(/^HTTP\/1\.[01] 200 OK/);
    expect(await late).toMatch(/^HTTP\/1\.[01] 200 OK/);
    expect(await ask(lab, '/primary')).toMatchObject({ kind: 'answered', status: 200 });
  });

  test('a request in flight at the freeze is not answered either', async () => {
    const lab = await start({ dialect });
    lab.operations.hold();
    const socket = await lab.connect();
    socket.write('GET /primary HTTP/1.1\r\nHost: n1\r\nConnection: close\r\n\r\n');
    await until('it looks', () => lab.operations.looks === 1);
    lab.server.freeze();
    lab.operations.release();
    expect(await isSilent(lab, '/primary', 200)).toBe(true);
    expect(socket.bytesRead).toBe(0);
    lab.server.thaw();
    expect(await received(socket)).toMatch(/^HTTP\/1\.[01] 200 OK/);
  });

  test('an operation sent to a frozen server runs when it is thawed', async () => {
    const lab = await start({ dialect });
    lab.server.freeze();
    const answer = lab.ask('/restart', { method: 'POST' });
    expect(await isSilent(lab, '/primary', 100)).toBe(true);
    expect(lab.operations.asked).toEqual([]);
    lab.server.thaw();
    expect((await answer).status).toBe(200);
    expect(lab.operations.asked).toEqual([['restart', {}]]);
  });

  test('a second freeze or thaw has no effect', async () => {
    const lab = await start({ dialect });
    lab.server.freeze();
    lab.server.freeze();
    lab.server.thaw();
    expect(await ask(lab, '/primary')).toMatchObject({ status: 200 });
    lab.server.thaw();
    expect(await ask(lab, '/primary')).toMatchObject({ status: 200 });
  });

  test('closed: connections end, the port refuses, a second close has no effect', async () => {
    const lab = await start({ dialect });
    lab.operations.hold();
    const [idle, waiting] = [await lab.connect(), await lab.connect()];
    waiting.write('GET /primary HTTP/1.1\r\nHost: n1\r\n\r\n');
    await until('it looks', () => lab.operations.looks === 1);
    const ended = Promise.all([closed(idle), closed(waiting)]);
    await lab.server.close();
    await ended;
    expect(await ask(lab, '/primary')).toMatchObject({ kind: 'refused' });
    await lab.server.close();
    lab.operations.release();
    expect(lab.errors).toEqual([]);
  });

  test('closed while frozen', async () => {
    const lab = await start({ dialect });
    lab.server.freeze();
    const waiting = await lab.connect();
    waiting.write('POST /restart HTTP/1.1\r\nHost: n1\r\nContent-Length: 0\r\n\r\n');
    expect(await isSilent(lab, '/primary', 100)).toBe(true);
    const ended = closed(waiting);
    await lab.server.close();
    await ended;
    expect(waiting.bytesRead).toBe(0);
    expect(lab.operations.asked).toEqual([]);
  });

  test('the error names a port in use', async () => {
    const first = await start({ dialect });
    const second = await start({ dialect });
    await second.server.close();
    await expect(second.server.listen('127.0.0.1', first.port)).rejects.toThrow('EADDRINUSE');
  });

  test('an incomplete request is 408', async () => {
    const lab = await start({ dialect, requestTimeoutMs: 100 });
    expect(await lab.bytes('POST /restart HTTP/1.1\r\nHost: n1\r\nContent-Length: 9\r\n\r\n{')).toMatch(
      /^HTTP\/1\.[01] 408 Request Timeout\r\n/,
    );
    expect(lab.operations.asked).toEqual([]);
    expect(lab.errors).toEqual([]);
  });

  test('a client that breaks off does no harm', async () => {
    const lab = await start({ dialect });
    const socket = await lab.connect();
    socket.write('POST /restart HTTP/1.1\r\nHost: n1\r\nContent-Length: 9\r\n\r\n{');
    socket.resetAndDestroy();
    lab.operations.hold();
    const impatient = await lab.connect();
    impatient.write('GET /primary HTTP/1.1\r\nHost: n1\r\n\r\n');
    await until('it looks', () => lab.operations.looks === 1);
    impatient.resetAndDestroy();
    lab.operations.release();
    expect(await ask(lab, '/primary')).toMatchObject({ status: 200 });
    expect(lab.operations.asked).toEqual([]);
    expect(lab.errors).toEqual([]);
  });

  test('the probe understands its health checks', async () => {
    const lab = await start({ dialect, member: aReplica({ tags: { zone: 'eu-1' } }) });
    const body = { role: 'replica', state: 'running', scope: 'demo', name: 'n2', timeline: 1, dialect };
    expect(await ask(lab, '/replica?lag=16MB&tag_zone=eu-1')).toMatchObject({ kind: 'answered', status: 200, body });
    expect(await ask(lab, '/primary')).toMatchObject({ kind: 'answered', status: 503, body });
    expect(await ask(lab, '/liveness')).toMatchObject({ kind: 'answered', status: 200 });
    expect(await ask(lab, '/readiness')).toMatchObject({ kind: 'answered', status: 200 });
  });

  test('the reader understands its documents', async () => {
    const lab = await start({ dialect });
    const api = { url: lab.url, address: { host: '127.0.0.1', port: lab.port } };
    const reader = createReader({ dialect });
    expect(await reader.readNodeStatus(api, 2_000)).toMatchObject({
      kind: 'status',
      status: { role: 'primary', dialect },
    });
    const members = [{ name: 'n1', role: 'leader' }, { name: 'n2' }, {}];
    expect(await reader.readCluster(api, 2_000)).toMatchObject({
      kind: 'cluster',
      cluster: { scope: 'demo', members },
    });
    expect(await reader.readHistory(api, 2_000)).toEqual({ kind: 'history', entries: [], skipped: 0 });
    expect(await reader.readConfig(api, 2_000)).toMatchObject({ kind: 'config', config: { ttl: 5, loop_wait: 1 } });
    lab.operations.cluster = undefined;
    expect(await reader.readCluster(api, 2_000)).toMatchObject({ kind: 'failed', cause: 'unexpected_status' });
  });
});

test('the management API: a connection stays open for the next request', async () => {
  const lab = await start();
  const socket = await lab.connect();
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  for (const count of [1, 2, 3]) {
    socket.write('GET /primary HTTP/1.1\r\nHost: n1\r\n\r\n');
    await until(`answer ${count}`, () => text.split('HTTP/1.1 200 OK').length === count + 1);
  }
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

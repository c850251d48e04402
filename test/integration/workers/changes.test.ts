// Reloads and the end: all workers or none, and no client is lost meanwhile.
import { afterEach, expect, test } from 'vitest';
import { createServer } from 'node:net';
import { freeAddresses } from '../../support/labs/app-lab.ts';
import { echoSession, isOver, stillEchoes } from '../../support/sockets/echo-session.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { WorkersLab, isFree, isRunning } from '../../support/labs/workers-lab.ts';

let lab: WorkersLab;

afterEach(() => lab.stop());

async function reload(changes: Parameters<WorkersLab['file']>[0]): Promise<void> {
  const before = lab.said('config_reloaded').length + lab.said('config_reload_failed').length;
  await lab.pointsman.configure(lab.file(changes));
  lab.pointsman.signal('SIGHUP');
  await lab.pointsman.waitFor(
    'the reload',
    () => lab.said('config_reloaded').length + lab.said('config_reload_failed').length > before,
  );
}

const LISTENERS = ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool }));

test('G15: a reload adds a listener on both workers, and removes it; sessions elsewhere live on', async () => {
  lab = await WorkersLab.start();
  const sessions = await lab.sessionsOnBoth('write');
  const [added] = await freeAddresses(1);
  if (added === undefined) throw new Error('no free port');
  await reload({ listeners: [...LISTENERS, { address: `127.0.0.1:${added.port}`, pool: 'read' }] });
  expect(lab.said('config_reload_failed')).toEqual([]);
  const more = await lab.onBoth('read', () => echoSession(added));
  for (const client of [...sessions.flat(), ...more.flat()]) await stillEchoes(client);
  await reload({ listeners: LISTENERS });
  await lab.pointsman.waitFor('the port to be free', () => isFree(added));
  for (const client of sessions.flat()) await stillEchoes(client);
});

test('G15: an address in use changes nothing in any worker', async () => {
  lab = await WorkersLab.start();
  const sessions = await lab.sessionsOnBoth('write');
  const [free] = await freeAddresses(1);
  const server = createServer((socket) => socket.destroy());
  const taken = await listen(server);
  try {
    const listeners = [free?.port, taken].map((port) => ({ address: `127.0.0.1:${port}`, pool: 'read' }));
    await reload({ listeners: [...LISTENERS, ...listeners] });
  } finally {
    await close(server);
  }
  expect(lab.said('config_reload_failed')).toMatchObject([
    { msg: expect.stringContaining(`127.0.0.1:${taken} is in use by another process`) },
  ]);
  if (free !== undefined) expect(await isFree(free)).toBe(true);
  for (const client of [...sessions.flat(), ...(await lab.sessionsOnBoth('write')).flat()]) await stillEchoes(client);
});

function reads(scope: string): Parameters<WorkersLab['file']>[0] {
  return {
    client: { tls: { mode: 'terminate', ...SERVER } },
    questions: { user: 'monitor' },
    pools: { read: { causal_reads: { scope, late: 'error' } } },
  };
}

test('G15, G26: with workers running, no reload brings causal reads of scope proxy', async () => {
  lab = await WorkersLab.start();
  await reload(reads('proxy'));
  await reload({ workers: 1, ...reads('proxy') });
  const [first, second] = lab.said('config_reload_failed');
  expect(first?.['msg']).toContain('scope: proxy needs workers: 1, because a worker learns of a write in another one');
  expect(second?.['msg']).toContain(
    'pools.read.causal_reads.scope: proxy needs workers: 1, and workers changes with a restart alone: restart, or ' +
      'use scope: cluster',
  );
  await reload(reads('cluster'));
  expect(lab.said('config_reloaded')).toHaveLength(1);
});

test('a worker that starts after a reload has the new configuration', async () => {
  lab = await WorkersLab.start();
  const [added] = await freeAddresses(1);
  if (added === undefined) throw new Error('no free port');
  await reload({ listeners: [...LISTENERS, { address: `127.0.0.1:${added.port}`, pool: 'read' }] });
  for (const pid of await lab.pids()) process.kill(pid, 'SIGKILL');
  await lab.pointsman.waitFor('the next two', async () => (await lab.pids()).length === 2);
  expect((await lab.pointsman.admin('/readyz')).status).toBe(200);
  await stillEchoes(await echoSession(added));
});

test('G14: signals to the workers have no effect; SIGTERM drains both, and nothing is left', async () => {
  lab = await WorkersLab.start({ shutdown: { grace: 0, drain_timeout: '1s' } });
  const sessions = await lab.sessionsOnBoth('write');
  const pids = await lab.pids();
  for (const pid of pids)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.kill(pid, signal);
  for (const client of sessions.flat()) await stillEchoes(client);
  const writes = await lab.at('write');
  lab.pointsman.signal('SIGTERM');
  await lab.pointsman.waitFor('the end of listening', () => isFree(writes));
  expect(await lab.pointsman.exited()).toBe(0);
  await lab.pointsman.waitFor('the ends', () => sessions.flat().every(isOver) && !pids.some(isRunning));
  expect(lab.said('worker_ended')).toEqual([]);
  // SIGUSR1 would open a debugger for every user of the machine.
  expect(lab.pointsman.stderr).toEqual([]);
  // The check of the free port connects as a client, too.
  const reasons = lab.said('session_closed').flatMap(({ reason }) => (reason === 'no_startup' ? [] : [reason]));
  expect(reasons).toEqual(sessions.flat().map(() => 'shutdown'));
});

test('G14: a drain ends as soon as the last session of the last worker has ended', async () => {
  lab = await WorkersLab.start({ shutdown: { grace: 0, wait: '1h', drain_timeout: '1h' } });
  const sessions = await lab.sessionsOnBoth('write');
  lab.pointsman.signal('SIGTERM');
  for (const client of sessions.flat()) await stillEchoes(client);
  for (const { socket } of sessions.flat()) socket.end();
  expect(await lab.pointsman.exited()).toBe(0);
});

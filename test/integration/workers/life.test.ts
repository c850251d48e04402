// Several processes on the same ports, as an operator uses them: the real program, real children, a fake cluster.
import { afterEach, expect, test } from 'vitest';
import { freeze } from '../../support/processes/freeze.ts';
import { isOver, stillEchoes } from '../../support/sockets/echo-session.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { WorkersLab, isFree, isRunning } from '../../support/labs/workers-lab.ts';

let lab: WorkersLab;

afterEach(() => lab.stop());

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

test('two workers serve one port, each with sessions; status and metrics add them up', async () => {
  lab = await WorkersLab.start();
  const sessions = await lab.sessionsOnBoth('write');
  const counts = sessions.map((all) => all.length);
  const { workers } = await lab.status();
  expect(workers.map((worker) => worker.sessions)).toEqual(counts);
  expect(await lab.pointsman.metric('pointsman_sessions{pool="write",state="relaying"}')).toBe(sum(counts));
  expect(await lab.pointsman.metric('pointsman_member_sessions{pool="write",member="pg-1"}')).toBe(sum(counts));
  expect(await lab.pointsman.metric('pointsman_workers')).toBe(2);
  for (const client of sessions.flat()) await stillEchoes(client);
});

test('kill -9 of a worker: its sessions end, others live, a new worker starts, and no total decreases', async () => {
  lab = await WorkersLab.start();
  const [doomed, others] = await lab.sessionsOnBoth('write');
  const [first = 0] = await lab.pids();
  const accepted = await lab.pointsman.metric('pointsman_listener_accepted_total{pool="write"}');
  expect(accepted).toBe(doomed.length + others.length);
  process.kill(first, 'SIGKILL');
  await lab.pointsman.waitFor('the end of its sessions', () => doomed.every(isOver));
  for (const client of others) await stillEchoes(client);
  await lab.pointsman.waitFor('the next worker', async () => {
    const pids = await lab.pids();
    return pids.length === 2 && !pids.includes(first);
  });
  const ends = lab.said('session_closed');
  expect(ends.map(({ reason }) => reason)).toEqual(doomed.map(() => 'worker_died'));
  expect(ends[0]?.['msg']).toContain(`worker 1 (pid ${first}): killed by SIGKILL`);
  expect(ends[0]).toMatchObject({ user: 'app', database: 'shop', member: 'pg-1' });
  expect(lab.said('worker_ended')).toMatchObject([{ worker: 1, pid: first, sessions: doomed.length }]);
  expect(await lab.pointsman.metric('pointsman_listener_accepted_total{pool="write"}')).toBe(accepted);
  expect(await lab.pointsman.metric('pointsman_sessions{pool="write",state="relaying"}')).toBe(others.length);
  expect(await lab.pointsman.metric('pointsman_sessions_closed_total{pool="write",reason="worker_died"}')).toBe(
    doomed.length,
  );
  expect(await lab.pointsman.metric('pointsman_worker_restarts_total{worker="1"}')).toBe(1);
  const next = await lab.sessionsOnBoth('write');
  for (const client of [...next.flat(), ...others]) await stillEchoes(client);
});

test('G16: kill -9 of the main process: its workers end at once, and the ports are free again', async () => {
  lab = await WorkersLab.start();
  const writes = await lab.at('write');
  const sessions = await lab.sessionsOnBoth('write');
  const pids = await lab.pids();
  lab.pointsman.signal('SIGKILL');
  await lab.pointsman.exited();
  await lab.pointsman.waitFor('the end of the workers', () => !pids.some(isRunning));
  await lab.pointsman.waitFor('the end of the sessions', () => sessions.flat().every(isOver));
  expect(await isFree(writes)).toBe(true);
});

test('a second Pointsman does not join: the port is in use, although it could be shared', async () => {
  lab = await WorkersLab.start();
  const { host, port } = await lab.at('write');
  const second = await startPointsman(lab.file({ listeners: [{ address: `${host}:${port}`, pool: 'write' }] }));
  try {
    expect(await second.exited()).toBe(1);
    expect(second.stderr.join('')).toContain(`${host}:${port} is in use by another process`);
  } finally {
    await second.stop();
  }
});

test('a stuck worker is replaced', async () => {
  lab = await WorkersLab.start();
  const [, second = 0] = await lab.pids();
  freeze(second);
  const ended = await lab.pointsman.waitFor('its end', () => lab.said('worker_ended')[0], 40_000);
  expect(ended).toMatchObject({ worker: 2, pid: second, why: expect.stringContaining('stuck: no report for') });
  await lab.pointsman.waitFor('the next one', async () => (await lab.pids()).length === 2);
});

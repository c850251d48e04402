// Several processes on the same ports, as an operator sees them: the real program, real children, fakes for the cluster.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startWorkersLab } from '../../support/workers-lab.ts';
import type { WorkersLab } from '../../support/workers-lab.ts';
import { isOver, stillEchoes } from '../../support/echo-session.ts';

// Three processes are started for each test.
vi.setConfig({ hookTimeout: 60_000, testTimeout: 60_000 });

let lab: WorkersLab;

beforeEach(async () => {
  lab = await startWorkersLab();
});

afterEach(() => lab.stop());

test('two workers serve one port, each with sessions; status and metrics sum them up', async () => {
  const sessions = await lab.sessionsOnBoth('write');
  const counts = sessions.map((all) => all.length);
  const { text } = await lab.pointsman.admin('/status');
  const status = JSON.parse(text);
  expect(status.ready).toBe(true);
  expect(status.workers.map((worker: { sessions: number }) => worker.sessions)).toEqual(counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  expect(await lab.pointsman.metric('pointsman_sessions{pool="write",state="relaying"}')).toBe(total);
  expect(await lab.pointsman.metric('pointsman_workers')).toBe(2);
  for (const client of sessions.flat()) await stillEchoes(client);
});

test('kill -9 of a worker: its sessions end, the others do not notice, and another takes its place', async () => {
  const [doomed, others] = await lab.sessionsOnBoth('write');
  const [first] = await lab.pids();
  process.kill(first ?? 0, 'SIGKILL');
  await lab.pointsman.waitFor('the end of its sessions', () => doomed.every(isOver));
  for (const client of others) await stillEchoes(client);
  await lab.pointsman.waitFor('the next worker', async () => {
    const pids = await lab.pids();
    return pids.length === 2 && !pids.includes(first ?? 0);
  });
});

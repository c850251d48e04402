// The whole process stood still for longer than a probe interval, and clients went on writing. None of these bytes
// reach a member that is no longer the primary. Without a change of primary, clients notice nothing.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freeze } from '../../support/processes/freeze.ts';
import { FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { echoSession, isOver } from '../../support/sockets/echo-session.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';

const NO_PROC = existsSync('/proc/self/stat') ? undefined : 'Linux, with /proc';
const WRITERS = 50;
const LATE = 'written while the proxy stood still';

let cluster: FakeCluster;
let pointsman: PointsmanProcess;
let writers: readonly RawClient[];

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  for (const { socket } of writers) socket.destroy();
  await pointsman.stop();
  await cluster.stop();
});

async function start(changes: ConfigFile): Promise<void> {
  pointsman = await startPointsman(fileFor([cluster.primary, cluster.replica], changes));
  await pointsman.waitUntilReady();
  const at = { host: '127.0.0.1', port: await pointsman.port('write') };
  writers = await Promise.all(Array.from({ length: WRITERS }, () => echoSession(at)));
}

/**
 * Stops all Pointsman processes for 2 s, twice a probe interval. Meanwhile `change` happens, then every client writes.
 */
async function stoppedMeanwhile(change: () => void): Promise<void> {
  const pids = [pointsman.pid, ...workerPids()];
  for (const pid of pids) freeze(pid);
  await until('the stop', () => pids.every((pid) => stateOf(pid) === 'T'));
  await delay(500);
  change();
  for (const { socket } of writers) socket.write(LATE);
  await delay(1500);
  for (const pid of pids.toReversed()) process.kill(pid, 'SIGCONT');
}

function workerPids(): readonly number[] {
  return pointsman.lines.filter(({ event }) => event === 'worker_started').map(({ pid }) => Number(pid));
}

function stateOf(pid: number): string | undefined {
  return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

function lateWrites(): number {
  return cluster.primary.postgres.connections.filter((one) => one.received().includes(LATE)).length;
}

describeUnless(NO_PROC, 'scenario 41: stopped for longer than a probe interval', () => {
  const ways: readonly (readonly [string, ConfigFile])[] = [
    ['one process', {}],
    ['one process, through the streams of Node', { relay: 'streams' }],
    ['two workers', { workers: 2 }],
  ];
  for (const [name, changes] of ways) {
    it(`${name}: the primary was demoted meanwhile: no write reaches it`, async () => {
      await start(changes);
      await stoppedMeanwhile(() => {
        cluster.primary.api.set({ role: 'replica', hasLock: false });
        cluster.replica.api.set({ role: 'primary', hasLock: true, timeline: 2 });
      });
      await until('the end of every session', () => writers.every(isOver));
      expect(lateWrites()).toBe(0);
    });

    it(`${name}: no change: every session lives and every write arrives`, async () => {
      await start(changes);
      await stoppedMeanwhile(() => {});
      await until('the echoes', () => writers.every((client) => client.received().includes(LATE)));
      expect(writers.some(isOver)).toBe(false);
    });
  }

  it('the API is silent: writes go on after the time that a probe may take', async () => {
    await start({});
    await stoppedMeanwhile(() => cluster.primary.api.set({ misbehave: 'hang' }));
    const resumedAt = performance.now();
    await until('the echoes', () => writers.every((client) => client.received().includes(LATE)));
    expect(performance.now() - resumedAt).toBeLessThan(2000);
    expect(writers.some(isOver)).toBe(false);
  });
});

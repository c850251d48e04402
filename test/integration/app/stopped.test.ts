// Scenario 41: the whole process stands still, as under SIGSTOP, on a paused machine or on a swapping one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { FakeCluster } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { freeze } from '../../support/processes/freeze.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let pointsman: PointsmanProcess;

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  await pointsman.stop();
  await cluster.stop();
});

async function start(probe: ConfigFile): Promise<void> {
  pointsman = await startPointsman({
    cluster: cluster.section(),
    probe,
    listeners: [
      { address: '127.0.0.1:0', pool: 'write' },
      { address: '127.0.0.1:0', pool: 'read' },
    ],
    admin: { address: '127.0.0.1:0' },
    log: { level: 'debug', format: 'json' },
  });
  await pointsman.waitUntilReady();
}

async function aSession(pool: string): Promise<RawClient> {
  const client = await connectRaw({ host: '127.0.0.1', port: await pointsman.port(pool) });
  client.socket.write(aStartup());
  await until('the session', () => client.received().length === aStartup().length);
  return client;
}

/** Resolves when the kernel has stopped every thread of the process. */
async function stopped(): Promise<void> {
  freeze(pointsman.pid);
  await until('the stop', () => stateOf(pointsman.pid) === 'T');
}

/** Only Linux shows whether a process has stopped, and only Linux has prlimit. */
const NO_PROC = existsSync('/proc/self/fd') ? undefined : 'Linux, with /proc and prlimit';

const STALE = 'written while the proxy stood still';
/** All lower numbers of descriptors are in use. Higher ones may be free: the start has closed some. */
const NONE_FREE = 8;
const SHORT = { interval: '200ms', timeout: '200ms', write_max_age: '1s', read_max_age: '1s', silence_grace: '1s' };

function changesSince(at: number): readonly unknown[] {
  const changes = ['standing_changed', 'route_changed', 'session_closed'];
  return pointsman.lines.slice(at).filter(({ event }) => changes.includes(String(event)));
}

itUnless(
  NO_PROC,
  'scenario 41: stopped for longer than evidence counts: ages are judged before any byte is forwarded',
  async () => {
    await start(SHORT);
    const session = await aSession('write');
    await stopped();
    expect(session.hasEnded || session.isClosed).toBe(false);
    session.socket.write(STALE);
    await delay(1_500);
    pointsman.signal('SIGCONT');
    await until('the end of the session', () => session.hasEnded || session.isClosed);
    const heard = cluster.primary.postgres.connections.map((connection) => connection.received().toString());
    expect(heard.some((bytes) => bytes.includes(STALE))).toBe(false);
    await pointsman.waitFor('why', () => changesSince(0).some((line) => /evicted_silent/.test(JSON.stringify(line))));
    // The next client is served: the fault has no lasting effect.
    expect((await aSession('write')).isClosed).toBe(false);
  },
);

itUnless(NO_PROC, 'scenario 41: stopped within the ages: no member loses trust and every byte arrives', async () => {
  await start({});
  const sessions = [await aSession('write'), await aSession('read')];
  const before = pointsman.lines.length;
  await stopped();
  for (const { socket } of sessions) socket.write(STALE);
  await delay(1_500);
  pointsman.signal('SIGCONT');
  await until('the echoes', () => sessions.every((session) => session.received().includes(STALE)));
  const asked = cluster.primary.api.requests.length;
  await until('two more rounds', () => cluster.primary.api.requests.length > asked + 1);
  expect(changesSince(before)).toEqual([]);
});

itUnless(
  NO_PROC,
  'scenario 41: out of file descriptors: no member loses trust, sessions live, and the process recovers',
  async () => {
    await start({});
    const sessions = [await aSession('write'), await aSession('read')];
    const before = pointsman.lines.length;
    limitFiles(NONE_FREE);
    await pointsman.waitFor('a probe that could not be made', () =>
      pointsman.lines.slice(before).some(({ event, outcome }) => event === 'probe_finished' && outcome === 'local'),
    );
    for (const { socket } of sessions) socket.write(STALE);
    await until('the echoes', () => sessions.every((session) => session.received().includes(STALE)));
    limitFiles(1_000);
    expect((await aSession('write')).isClosed).toBe(false);
    expect(changesSince(before)).toEqual([]);
  },
);

itUnless(
  NO_PROC,
  'G12: out of descriptors for longer than silence_grace: no session ends; new ones come after',
  async () => {
    await start(SHORT);
    const sessions = [await aSession('write'), await aSession('read')];
    const before = pointsman.lines.length;
    limitFiles(NONE_FREE);
    const unsent = (): readonly unknown[] =>
      pointsman.lines.slice(before).filter(({ event, outcome }) => event === 'probe_finished' && outcome === 'local');
    await pointsman.waitFor('probes that could not be sent for three times the grace', () => unsent().length >= 30);
    for (const { socket } of sessions) socket.write(STALE);
    await until('the echoes', () => sessions.every((session) => session.received().includes(STALE)));
    expect(pointsman.lines.slice(before).filter(({ event }) => event === 'session_closed')).toEqual([]);
    limitFiles(1_000);
    expect((await aSession('write')).isClosed).toBe(false);
  },
);

function limitFiles(most: number): void {
  execFileSync('prlimit', ['--pid', String(pointsman.pid), `--nofile=${most}:`]);
}

function stateOf(pid: number): string | undefined {
  return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

// The reports of the workers, and the counts that remain of a lost worker.
import { expect, test } from 'vitest';
import { NO_CLIENTS } from '../../../src/reports/counts.ts';
import type { PoolCounts } from '../../../src/reports/counts.ts';
import type { Latencies } from '../../../src/reports/latency.ts';
import { NO_RESULTS } from '../../../src/reports/causal-reads.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import { NO_TALLY } from '../../../src/reports/tally.ts';
import type { Tally } from '../../../src/reports/tally.ts';
import { WorkerStats } from '../../../src/workers/stats.ts';
import type { WorkerReport } from '../../../src/workers/messages.ts';

const STATES: PoolCounts['states'] = { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 };

function aCount(changes: Partial<PoolCounts>): PoolCounts {
  return {
    states: STATES,
    members: new Map(),
    fallbackSessions: 0,
    laggingSessions: 0,
    started: 0,
    accepted: 0,
    closed: 0,
    toBackendBytes: 0,
    toClientBytes: 0,
    ...changes,
  };
}

function aReport(pools: Record<string, Partial<PoolCounts>>, changes: Partial<WorkerReport> = {}): WorkerReport {
  const counts = new Map(Object.entries(pools).map(([pool, count]) => [pool, aCount(count)]));
  const usage = { cpuSeconds: 0, residentBytes: 0 };
  return { events: [], counts, clients: NO_CLIENTS, tally: NO_TALLY, certificate: undefined, usage, ...changes };
}

const relaying = (count: number): PoolCounts['states'] => ({ ...STATES, relaying: count });

test('counts are the sum of the last reports', () => {
  const stats = new WorkerStats();
  const told = { states: relaying(2), members: new Map([['pg-1', 2]]), accepted: 5, closed: 3, toClientBytes: 10 };
  stats.update(1, aReport({ write: { ...told, accepted: 4, heldSince: 3 } }), 0);
  stats.update(1, aReport({ write: { ...told, heldSince: 9 } }), 0);
  stats.update(
    2,
    aReport({ write: { ...told, degradedSince: 7, heldSince: 5 }, read: { accepted: 1, states: relaying(1) } }),
    0,
  );
  expect(stats.counts().get('write')).toEqual(
    aCount({
      states: relaying(4),
      members: new Map([['pg-1', 4]]),
      accepted: 10,
      closed: 6,
      toClientBytes: 20,
      degradedSince: 7,
      heldSince: 5,
    }),
  );
  expect([stats.sessionsOf(1), stats.sessionsOf(2), stats.sessionsOf(3)]).toEqual([2, 3, 0]);
});

test('a lost worker reverts no count: accepted = closed + live before and after', () => {
  const stats = new WorkerStats();
  stats.update(1, aReport({ write: { states: relaying(2), accepted: 5, closed: 3, toClientBytes: 10 } }), 0);
  stats.update(2, aReport({ write: { states: relaying(1), accepted: 1 } }), 0);
  stats.remove(1, 'died', 0);
  expect(stats.counts().get('write')).toEqual(
    aCount({ states: relaying(1), accepted: 6, started: 5, closed: 5, toClientBytes: 10 }),
  );
  stats.remove(2, 'died', 0);
  stats.update(3, aReport({ write: { accepted: 1, states: relaying(1) } }), 0);
  expect(stats.counts().get('write')).toEqual(
    aCount({ states: relaying(1), accepted: 7, started: 6, closed: 6, toClientBytes: 10 }),
  );
});

test('of a lost worker the totals of its causal reads remain, and nothing of this minute', () => {
  const stats = new WorkerStats();
  const results = { ...NO_RESULTS, moved: 2 };
  const lastMinute = { results, waitedMs: 900, longestMs: 500, lateOn: new Map([['pg-3', 2]]) };
  const causalReads = { results, waitedMs: 900, waits: [0, 2], waiting: 1, lastMinute };
  stats.update(1, aReport({ read: { causalReads } }), 0);
  stats.update(2, aReport({ read: { causalReads } }), 0);
  expect(stats.counts().get('read')?.causalReads).toMatchObject({
    waiting: 2,
    waitedMs: 1800,
    lastMinute: { waitedMs: 1800, longestMs: 500, lateOn: new Map([['pg-3', 4]]) },
  });
  stats.remove(1, 'died', 0);
  const left = stats.counts().get('read')?.causalReads;
  expect(left).toMatchObject({ waiting: 1, waitedMs: 1800, results: { moved: 4 }, lastMinute });
  expect(left?.waits.slice(0, 2)).toEqual([0, 4]);
});

const who = { session: 7, client: '10.0.0.1:5000' };
const accepted: ProxyEvent = { kind: 'client_accepted', pool: 'write', ...who };
const dialed: ProxyEvent = {
  kind: 'dial_finished',
  pool: 'read',
  session: 7,
  member: 'pg-2',
  outcome: 'connected',
  durationMs: 1,
};
const opened: ProxyEvent = { kind: 'session_opened', pool: 'read', ...who, member: 'pg-2', user: 'app' };
const closed: ProxyEvent = {
  kind: 'session_closed',
  pool: 'read',
  ...who,
  member: 'pg-2',
  reason: 'client_closed',
  detail: undefined,
  durationMs: 5,
  toBackendBytes: 1,
  toClientBytes: 1,
};

const held: ProxyEvent = { kind: 'hold_started', pool: 'read', session: 7, cause: 'no_member' };
const moved: ProxyEvent = {
  kind: 'session_moved',
  pool: 'read',
  session: 7,
  from: 'pg-2',
  to: 'pg-3',
  cause: 'operator',
  gapMs: 1,
  loginMs: 1,
  wasWaiting: false,
};

const BRANCH = { id: 'br-1', name: 'pr-1' };

test.each<[string, ProxyEvent[], object]>([
  ['one without a report', [accepted], { pool: 'write', member: undefined }],
  ['one that has just connected', [accepted, dialed], { pool: 'read', member: 'pg-2' }],
  [
    'one whose connection was refused',
    [accepted, { ...dialed, outcome: 'refused' }],
    { pool: 'read', member: undefined },
  ],
  ['one that has moved', [accepted, dialed, opened, moved], { pool: 'read', member: 'pg-3', user: 'app' }],
  ['one that is served', [accepted, dialed, opened], { pool: 'read', member: 'pg-2', user: 'app' }],
  [
    'one on a branch',
    [accepted, { ...opened, pool: 'branches', member: undefined, branch: BRANCH }],
    { pool: 'branches', member: undefined, user: 'app', branch: BRANCH },
  ],
])('the session of a dead worker ends with one event: %s', (_, events, expected) => {
  const stats = new WorkerStats();
  for (const event of events) stats.update(1, aReport({}, { events: [{ event, at: 0 }] }), 1000);
  expect(stats.remove(1, 'worker 1 (pid 5): killed by SIGKILL', 3500)).toEqual([
    {
      kind: 'session_closed',
      ...who,
      reason: 'worker_died',
      detail: 'worker 1 (pid 5): killed by SIGKILL',
      durationMs: 2500,
      toBackendBytes: 0,
      toClientBytes: 0,
      ...expected,
    },
  ]);
  expect(stats.remove(1, 'again', 0)).toEqual([]);
});

test('a session that ended before does not end again', () => {
  const stats = new WorkerStats();
  stats.update(1, aReport({}, { events: [accepted, dialed, opened, closed].map((event) => ({ event, at: 0 })) }), 0);
  expect(stats.remove(1, 'died', 0)).toEqual([]);
});

function aTally(sessions: number, byAddress: Record<string, number> = {}): Tally {
  return { ...NO_TALLY, sessions, byAddress: new Map(Object.entries(byAddress)) };
}

function enter(stats: WorkerStats, worker: number, tally: Tally): void {
  stats.update(worker, aReport({}, { tally }), 0);
}

test('each worker gets the counts of the others, and of addresses the changes', () => {
  const stats = new WorkerStats();
  enter(stats, 1, aTally(2, { a: 2 }));
  enter(stats, 2, aTally(3, { a: 1, b: 2 }));
  enter(stats, 3, aTally(4));
  expect(stats.changesExcept([1, 2, 3])).toEqual(
    new Map([
      [1, aTally(7, { a: 1, b: 2 })],
      [2, aTally(6, { a: 2, b: 0 })],
      [3, aTally(5, { a: 3, b: 2 })],
    ]),
  );
  enter(stats, 1, aTally(1, { a: 1 }));
  expect(stats.changesExcept([2])).toEqual(new Map([[2, aTally(5, { a: 1 })]]));
  enter(stats, 2, aTally(1, { b: 0 }));
  expect(stats.changesExcept([1]).get(1)).toEqual(aTally(5, { b: 0 }));
});

test('a lost worker has no counts any more; a new one gets all counts', () => {
  const stats = new WorkerStats();
  enter(stats, 1, aTally(2, { a: 2 }));
  enter(stats, 2, aTally(3, { a: 1, b: 2 }));
  expect(stats.totalExcept(3)).toEqual(aTally(5, { a: 3, b: 2 }));
  stats.changesExcept([1, 2]);
  stats.remove(2, 'died', 0);
  expect(stats.changesExcept([1])).toEqual(new Map([[1, aTally(0, { a: 0, b: 0 })]]));
  expect(stats.totalExcept(3)).toEqual(aTally(2, { a: 2 }));
});

test('counts of clients are the sum of the last reports; those of a lost worker stay, without its handshakes', () => {
  const stats = new WorkerStats();
  const clients = { ...NO_CLIENTS, handshakes: 2, firstPackets: [3, 1, 0, 0, 0, 0, 0, 0] };
  stats.update(1, aReport({}, { clients: { ...clients, firstPackets: NO_CLIENTS.firstPackets } }), 0);
  stats.update(1, aReport({}, { clients }), 0);
  stats.update(2, aReport({}, { clients }), 0);
  expect(stats.clients()).toEqual({ ...NO_CLIENTS, handshakes: 4, firstPackets: [6, 2, 0, 0, 0, 0, 0, 0] });
  stats.remove(1, 'died', 0);
  stats.update(3, aReport({}, { clients: { ...clients, handshakes: 0 } }), 0);
  expect(stats.clients()).toEqual({ ...NO_CLIENTS, handshakes: 2, firstPackets: [9, 3, 0, 0, 0, 0, 0, 0] });
});

function endsAfter(...events: readonly ProxyEvent[]): readonly ProxyEvent[] {
  const stats = new WorkerStats();
  for (const event of events) stats.update(1, aReport({}, { events: [{ event, at: 0 }] }), 1000);
  return stats.remove(1, 'killed', 3500);
}

test('the wait of a client ends with its worker; a wait that has ended does not end again', () => {
  const wait = { kind: 'hold_ended', pool: 'read', session: 7, outcome: 'refused', waitedMs: 2500 } as const;
  // It waits after its server turned it away.
  const waiting = [accepted, dialed, held];
  expect(endsAfter(...waiting)).toMatchObject([wait, { kind: 'session_closed', member: undefined }]);
  expect(endsAfter(...waiting, { ...wait, outcome: 'released' })).toMatchObject([{ kind: 'session_closed' }]);
});

function latencyOf(requestMs: number | undefined, share: number, at?: number): Latencies {
  return new Map([['pg-1', { requestMs, loginMs: undefined, at, share }]]);
}

test('the latency of a member is the mean over the workers that know it', () => {
  const stats = new WorkerStats();
  stats.update(1, aReport({ read: { latency: latencyOf(1, 1, 500) } }), 0);
  stats.update(2, aReport({ read: { latency: latencyOf(3, 0.5, 200) } }), 0);
  stats.update(3, aReport({ read: { latency: latencyOf(undefined, 0.75) } }), 0);
  expect(stats.counts().get('read')?.latency).toEqual(latencyOf(2, 0.75, 500));
});

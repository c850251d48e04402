// The plan of a switchover: every reason not to begin, before any client waits.
import { describe, expect, test } from 'vitest';
import type { ClusterReport, MemberReport } from '../../../../src/documents/cluster-documents.ts';
import { planSwitchover } from '../../../../src/cluster/switchover/plan.ts';
import type { PlanDocument } from '../../../../src/documents/switchover-document.ts';
import { decideRoutes } from '../../../../src/core/decide-routes.ts';
import type { MemberRecord, Snapshot } from '../../../../src/core/snapshot.ts';
import { withDrained } from '../../../../src/core/snapshot.ts';
import type { Observation } from '../../../../src/model/observation.ts';
import { aReport } from '../../../support/labs/switchover-lab.ts';
import {
  aList,
  aPolicy,
  aSnapshot,
  isPrimary,
  isReplica,
  MB,
  refused,
  silent,
} from '../../../support/values/builders.ts';

const POLICY = aPolicy();
const ROUND = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isPrimary('pg-1', 0), isReplica('pg-2', 0), isReplica('pg-3', 0)];

interface Given {
  readonly to?: string;
  readonly transactionMs?: number;
  readonly clientTimeoutMs?: number;
  readonly fleet?: boolean;
  readonly beforeSwitchoverMs?: number;
  readonly report?: Partial<ClusterReport>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly news?: readonly Observation[];
  readonly adapt?: (snapshot: Snapshot) => Snapshot;
}

function planned({ to, transactionMs = 10_000, clientTimeoutMs = 30_000, ...given }: Given = {}): PlanDocument {
  const { report, config = {}, news = [], fleet, beforeSwitchoverMs = 1000, adapt = (same: Snapshot) => same } = given;
  const snapshot = adapt(aSnapshot(POLICY, ...ROUND, ...news));
  const hold = {
    clientTimeoutMs,
    beforeSwitchoverMs,
    maxSessions: 100,
    outageTimeoutMs: 60_000,
    maxConnectsPerSecond: 200,
  };
  return planSwitchover(
    { to, transactionMs, fleet },
    { policy: { ...POLICY, hold }, table: decideRoutes(POLICY, snapshot, 500), snapshot },
    { report: { kind: 'read', value: aReport(report) }, config: { kind: 'read', value: config } },
  );
}

/** The report with one member changed. */
function withMember(name: string, changes: Partial<MemberReport>): Partial<ClusterReport> {
  const { members } = aReport();
  return { members: members.map((member) => (member.name === name ? { ...member, ...changes } : member)) };
}

/** Changes what the snapshot has of pg-2. */
function withRecord(snapshot: Snapshot, change: (record: MemberRecord) => MemberRecord): Snapshot {
  const members = [...snapshot.members].map(
    ([name, record]) => [name, name === 'pg-2' ? change(record) : record] as const,
  );
  return { ...snapshot, members: new Map(members) };
}

function unanswered(snapshot: Snapshot): Snapshot {
  return withRecord(snapshot, (record) => ({ ...record, status: undefined }));
}

/** pg-2 lags, by the report and by its own answer. */
function lagging(bytes: number): Given {
  const news = [isReplica('pg-2', 400, { replayed: 100 * MB - bytes })];
  return { report: withMember('pg-2', { lag_bytes: bytes }), news };
}

test('a healthy cluster has a plan without problems', () => {
  expect(planned()).toMatchObject({ from: 'pg-1', to: null, longest_hold_ms: 28_000, problems: [], warnings: [] });
  expect(planned({ to: 'pg-2' })).toMatchObject({ to: 'pg-2', problems: [] });
  expect(planned().candidates.map(({ name, eligible }) => [name, eligible])).toEqual([
    ['pg-2', true],
    ['pg-3', true],
  ]);
});

describe('a candidate that cannot follow the primary', () => {
  test.each<[string, Given, string]>([
    ['is not streaming', { report: withMember('pg-2', { state: 'starting' }) }, 'its state is starting, not streaming'],
    ['has no state', { report: withMember('pg-2', { state: null }) }, 'its state is unknown, not streaming'],
    ['is tagged', { report: withMember('pg-2', { tags: { nofailover: 'true' } }) }, 'it is tagged nofailover'],
    [
      'has no priority',
      { report: withMember('pg-2', { tags: { failover_priority: '0' } }) },
      'its failover_priority is 0',
    ],
    [
      'is on another timeline',
      { report: withMember('pg-2', { timeline: 7 }) },
      'it is on timeline 7, the primary is on 1',
    ],
    ['has an unknown lag', { report: withMember('pg-2', { lag_bytes: null }) }, 'its lag is unknown'],
    ['lags', lagging(2 * MB), 'its lag is 2 MB, the limit is 1 MB'],
    [
      'lags beyond the configured limit',
      { ...lagging(2048), config: { maximum_lag_on_failover: 1024 } },
      'its lag is 2 kB, the limit is 1 kB',
    ],
    [
      'lags beyond a limit that is a text',
      { ...lagging(2048), config: { maximum_lag_on_failover: '1024' } },
      'its lag is 2 kB, the limit is 1 kB',
    ],
    ...['on', 'true', 'quorum'].map((mode): [string, Given, string] => [
      `is not synchronous, and the mode is the text ${mode}`,
      { report: withMember('pg-3', { role: 'sync_standby' }), config: { synchronous_mode: mode } },
      'synchronous mode is on, and it is not synchronous',
    ]),
    [
      'is not synchronous',
      { report: withMember('pg-3', { role: 'sync_standby' }), config: { synchronous_mode: true } },
      'synchronous mode is on, and it is not synchronous',
    ],
    [
      'has an unknown address',
      {
        adapt: (snapshot) =>
          withRecord(snapshot, (record) => ({ ...record, member: { ...record.member, postgres: undefined } })),
      },
      'the address of its PostgreSQL is unknown',
    ],
    ['is drained', { adapt: (snapshot) => withDrained(snapshot, 'pg-2', 1) }, 'it is drained here: resume it first'],
    ['is dead', { news: [refused({ member: 'pg-2', at: 100 })] }, 'its API and its PostgreSQL refuse connections'],
    [
      'is not used here',
      {
        adapt: (snapshot) => ({
          ...snapshot,
          members: new Map([...snapshot.members].filter(([name]) => name !== 'pg-2')),
        }),
      },
      'this Pointsman does not use it: see refused_members in /status',
    ],
  ])('it %s', (_, given, why) => {
    expect(planned({ ...given, to: 'pg-2' }).problems).toEqual([`pg-2 cannot follow the primary: ${why}`]);
    expect(planned({ ...given, to: 'pg-3' }).problems).toEqual([]);
    expect(planned(given).problems).toEqual([]);
  });

  test('the newest of two timelines counts: the document may be older than the answer of the member', () => {
    const { members } = aReport();
    const known = members.map((member) => ({ ...member, timeline: member.name === 'pg-1' ? 2 : 1 }));
    const news = [isPrimary('pg-1', 400, { timeline: 2 }), isReplica('pg-2', 400, { timeline: 2 })];
    expect(planned({ to: 'pg-2', report: { members: known }, news }).problems).toEqual([]);
    expect(planned({ to: 'pg-3', report: { members: known }, news }).problems).toEqual([
      'pg-3 cannot follow the primary: it is on timeline 1, the primary is on 2',
    ]);
  });

  test('the smaller lag counts: under load the document has the positions of different moments', () => {
    const { report = {} } = lagging(2 * MB);
    const [pg2] = planned({ to: 'pg-2', report }).candidates;
    expect(pg2).toMatchObject({ lag_bytes: 0, eligible: true });
    const { news = [] } = lagging(2 * MB);
    expect(planned({ to: 'pg-2', news }).candidates[0]).toMatchObject({ lag_bytes: 0, eligible: true });
  });

  test('the own lag of a member that does not answer does not count', () => {
    const { report = {} } = lagging(2 * MB);
    expect(planned({ to: 'pg-2', report, news: [silent({ member: 'pg-2', at: 400 })] }).problems).toEqual([
      'pg-2 cannot follow the primary: its lag is 2 MB, the limit is 1 MB',
    ]);
  });

  test('a lag of exactly the limit is none too many, and a limit of null is the usual one', () => {
    expect(planned({ ...lagging(MB), to: 'pg-2' }).problems).toEqual([]);
    expect(planned({ ...lagging(2048), to: 'pg-2', config: { maximum_lag_on_failover: null } }).problems).toEqual([]);
  });

  test('a member that has not answered yet is judged by the reports of the others', () => {
    const adapt = unanswered;
    expect(planned({ to: 'pg-2', adapt }).problems).toEqual([]);
    const otherTimeline = withMember('pg-2', { timeline: 7 });
    expect(planned({ to: 'pg-2', adapt, report: otherTimeline }).problems).toEqual([
      'pg-2 cannot follow the primary: it is on timeline 7, the primary is on 1',
    ]);
    expect(planned({ to: 'pg-2', adapt, report: withMember('pg-2', { timeline: null }) }).problems).toEqual([]);
  });

  test('the primary is found by its name, wherever the report has it', () => {
    const { members } = aReport();
    const { candidates } = planned({ report: { members: members.toReversed() } });
    expect(candidates.map(({ name, eligible }) => [name, eligible])).toEqual([
      ['pg-3', true],
      ['pg-2', true],
    ]);
  });

  test('a tag counts that only the answer of the member has', () => {
    const tags = new Map([['nofailover', 'true']]);
    expect(planned({ to: 'pg-2', news: [isReplica('pg-2', 400, { tags })] }).problems).toEqual([
      'pg-2 cannot follow the primary: it is tagged nofailover',
    ]);
  });

  test('with synchronous mode a synchronous standby can follow, in both of its forms', () => {
    for (const role of ['sync_standby', 'quorum_standby']) {
      const report = withMember('pg-2', { role });
      expect(planned({ to: 'pg-2', report, config: { synchronous_mode: 'quorum' } }).problems).toEqual([]);
    }
  });

  test('when no member can, each one has its reason', () => {
    const { members } = aReport();
    const tags = { nofailover: 'true' };
    expect(planned({ report: { members: members.map((member) => ({ ...member, tags })) } }).problems).toEqual([
      'no member can follow the primary: pg-2 (it is tagged nofailover), pg-3 (it is tagged nofailover)',
    ]);
    expect(planned({ report: { members: members.slice(0, 1) } }).problems).toEqual([
      'no member can follow the primary: there is no other member',
    ]);
  });
});

describe('other reasons not to begin', () => {
  test.each<[string, Given, string]>([
    ['an unknown member', { to: 'pg-9' }, 'unknown member pg-9: the members are pg-1, pg-2, pg-3'],
    ['the primary itself', { to: 'pg-1' }, 'pg-1 is the primary already'],
    [
      'no primary',
      { news: [isReplica('pg-1', 400), refused({ member: 'pg-1', at: 450 })] },
      'no primary is proven now: a switchover needs one that takes clients',
    ],
    [
      'another leader',
      { report: { leader: 'pg-2' }, to: 'pg-3' },
      'the members name pg-2 as the leader, but clients go to pg-1',
    ],
    [
      'no leader, so that no timeline of one is known',
      { report: { leader: null }, to: 'pg-3' },
      'the members name no member as the leader, but clients go to pg-1',
    ],
    [
      'a schedule',
      { report: { scheduled_switchover: { at: '2026-12-01T00:00:00+00:00', from: 'pg-1', to: null } } },
      'a switchover is scheduled for 2026-12-01T00:00:00+00:00: cancel it first',
    ],
    [
      'a pause without a candidate',
      { report: { paused: true } },
      'the cluster is paused: name the next primary, or resume the cluster first',
    ],
    [
      'a hold that is too short',
      { clientTimeoutMs: 15_000 },
      'clients wait for 15 s at most (hold.client_timeout), and the switchover can take 20 s: ' +
        'use --transaction-timeout 5s, or raise hold.client_timeout',
    ],
    [
      'a hold as long as a switchover without transactions',
      { clientTimeoutMs: 10_000 },
      'clients wait for 10 s at most (hold.client_timeout), and the switchover can take 20 s: ' +
        'raise hold.client_timeout above 10 s',
    ],
    [
      'no hold at all',
      { clientTimeoutMs: 0 },
      'clients wait for 0 ms at most (hold.client_timeout), and the switchover can take 20 s: ' +
        'raise hold.client_timeout above 10 s',
    ],
  ])('%s', (_, given, problem) => {
    expect(planned(given).problems).toEqual([problem]);
  });

  test('a hold as long as the whole switchover is long enough', () => {
    expect(planned({ clientTimeoutMs: 20_000 }).problems).toEqual([]);
  });

  test('a paused cluster switches to a named member', () => {
    expect(planned({ to: 'pg-2', report: { paused: true } }).problems).toEqual([]);
  });

  test.each([false, true])('a cluster that cannot be read, of a fleet: %s', (fleet) => {
    const snapshot = aSnapshot(POLICY, ...ROUND);
    const hold = {
      beforeSwitchoverMs: 1_000,
      clientTimeoutMs: 30_000,
      maxSessions: 1,
      outageTimeoutMs: 60_000,
      maxConnectsPerSecond: 1,
    };
    const unreadable = { kind: 'unreadable', why: 'timeout' } as const;
    const plan = planSwitchover(
      { to: undefined, transactionMs: 0, fleet },
      { policy: { ...POLICY, hold }, table: decideRoutes(POLICY, snapshot, 500), snapshot },
      { report: unreadable, config: unreadable },
    );
    expect(plan.problems).toEqual(['the cluster cannot be read: timeout']);
    expect(plan.candidates).toEqual([]);
    expect(plan.warnings).toEqual(['the configuration of the cluster is unknown: timeout']);
  });
});

describe('a switchover of the fleet', () => {
  test('is scheduled after each Pointsman has read the list twice, and holds clients shortly before', () => {
    const wanted = { fleet: { ahead_ms: 23_000, hold_before_ms: 1_000 }, longest_hold_ms: 16_000, problems: [] };
    expect(planned({ fleet: true })).toMatchObject(wanted);
    expect(planned()).toMatchObject({ fleet: null });
  });

  test.each<[string, Given, RegExp]>([
    ['nobody would hold a client', { beforeSwitchoverMs: 0 }, /hold.before_switchover is 0/],
    ['clients wait too short', { clientTimeoutMs: 10_000 }, /hold.client_timeout.*can take 11 s/],
    ['the cluster is paused', { to: 'pg-2', report: { paused: true } }, /schedules no switchover/],
    ['the cluster has a schedule', { report: { scheduled_switchover: { at: 'x', from: 'pg-1', to: null } } }, /first/],
  ])('does not begin when %s', (_what, given, problem) => {
    expect(planned({ ...given, fleet: true }).problems).toEqual([expect.stringMatching(problem)]);
  });

  test('has no limit for transactions: they end when the primary stops', () => {
    expect(planned({ fleet: true, transactionMs: 60_000 }).problems).toEqual([]);
    // As long as it needs.
    expect(planned({ fleet: true, clientTimeoutMs: 11_000 }).problems).toEqual([]);
  });
});

// A snapshot of an incident: the cluster and its sessions at one moment, as plain data.
import { primaryPositions, recentLags } from '../core/lag.ts';
import type { Route, RoutingTable } from '../core/routing-table.ts';
import type { MemberRecord, Position, Snapshot } from '../core/snapshot.ts';
import { stalenessMs } from '../core/staleness.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { PoolCounts } from '../reports/counts.ts';
import type { IncidentSnapshot, SnapshotOfMember } from './schema.ts';

/** References alone: nothing is copied until an incident shows it. */
export interface ClusterState {
  readonly at: Instant;
  readonly table: RoutingTable;
  readonly snapshot: Snapshot;
  readonly pools: readonly PoolPolicy[];
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
}

export interface IncidentState extends ClusterState {
  readonly when: IncidentSnapshot['when'];
  /** The number of the newest event before it. */
  readonly after: number;
}

export interface Shows {
  readonly time: (at: Instant) => string;
  readonly id: (number: number) => string;
}

export function snapshotOf(state: IncidentState, { time, id }: Shows): IncidentSnapshot {
  const { when, at, after, snapshot, pools } = state;
  const primary = primaryPositions(snapshot);
  return {
    when,
    time: time(at),
    after_event: after === 0 ? null : id(after),
    timeline: snapshot.highestTimeline ?? null,
    scheduled_switchover:
      snapshot.switchover === undefined
        ? null
        : { time: time(snapshot.switchover.at), from: snapshot.switchover.leader },
    pools: pools.map((pool) => snapshotOfPool(pool, state)),
    members: [...snapshot.members.values()].map((record) => snapshotOfMember(record, primary, state)),
  };
}

function snapshotOfPool(
  { name, exclusive, check }: PoolPolicy,
  state: ClusterState,
): IncidentSnapshot['pools'][number] {
  const route: Route = state.table.pools.get(name)?.route ?? { kind: 'closed' };
  const counts = state.counts.get(name);
  return {
    name,
    exclusive,
    check: check.text,
    route: route.kind,
    cause: route.kind === 'hold' ? route.cause : null,
    members: route.kind === 'open' ? route.targets.map(({ member }) => member) : [],
    fallback: route.kind === 'open' ? (route.fallback?.pool ?? null) : null,
    sessions: counts?.states.relaying ?? 0,
    connecting: counts?.states.dialing ?? 0,
    closing: counts?.states.closing ?? 0,
    waiting: counts?.states.holding ?? 0,
  };
}

function snapshotOfMember(record: MemberRecord, primary: readonly Position[], state: ClusterState): SnapshotOfMember {
  const { member, status, answeredAt, failure } = record;
  const { at, table, pools, counts } = state;
  const staleMs = stalenessMs(state.snapshot, record, primary);
  const of = <Value>(read: (pool: PoolName) => Value | undefined): Record<string, Value> =>
    Object.fromEntries(
      pools.flatMap(({ name }) => {
        const value = read(name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  return {
    name: member.name,
    role: status?.role ?? null,
    state: status?.state ?? null,
    timeline: status?.timeline ?? null,
    answer_age_seconds: answeredAt === undefined ? null : Math.round(Math.max(0, at - answeredAt)) / 1000,
    failing: failure === undefined ? null : failureText(failure),
    lag_bytes: recentLags(primary, record, 1)[0] ?? null,
    ...(staleMs === undefined ? {} : { staleness_seconds: Math.round(staleMs) / 1000 }),
    standings: of((pool) => table.pools.get(pool)?.standings.get(member.name)?.kind),
    sessions: of((pool) => counts.get(pool)?.members.get(member.name)),
  };
}

function failureText({ outcome }: NonNullable<MemberRecord['failure']>): string {
  return outcome.kind === 'failed' ? outcome.detail : outcome.kind;
}

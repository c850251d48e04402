// The part of the status document about one pool.
import { describeLatency, describeRoute } from '../core/describe.ts';
import { refusalText } from '../core/refusal-words.ts';
import { isPlanned, type Route, type RoutingTable } from '../core/routing-table.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import type { ListenerPolicy, PoolPolicy } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';
import type { ReadScope } from '../model/causal-reads.ts';
import { lateIn, type CausalReadCounts } from '../reports/causal-reads.ts';
import type { PoolCounts } from '../reports/counts.ts';
import type { Latencies } from '../reports/latency.ts';
import type {
  CausalReadsDocument,
  PoolDocument,
  PoolStatusDocument,
  RouteDocument,
  PoolSessionsDocument,
  StatusDocument,
} from '../documents/status-document.ts';
import { seconds } from './status-units.ts';

/** Undefined: there is no such pool. */
export function poolPart({ time, pools, members, ...status }: StatusDocument, name: string): PoolDocument | undefined {
  const pool = pools.find((one) => one.name === name);
  if (pool === undefined) return undefined;
  const own = members.flatMap((member) => {
    const standing = member.pools[name];
    if (standing === undefined) return [];
    const { role, lag_bytes, staleness_seconds } = member;
    return [{ name: member.name, role, lag_bytes, staleness_seconds, ...standing }];
  });
  return { time, pool, members: own, refused_members: status.refused_members };
}

export function poolStatus(
  pool: PoolPolicy,
  table: RoutingTable,
  counts: PoolCounts | undefined,
  now: Instant,
  listeners: readonly ListenerPolicy[],
): Omit<PoolStatusDocument, 'route_since'> {
  const own = listeners.filter((listener) => listener.pool === pool.name);
  const route = table.pools.get(pool.name)?.route ?? { kind: 'closed' };
  const since = counts?.degradedSince;
  return {
    name: pool.name,
    ...(own.length === 0 ? {} : { listeners: own.map(({ address }) => addressText(address)) }),
    check: pool.check.text,
    exclusive: pool.exclusive,
    route: routeDocument(route, since === undefined ? {} : { for_seconds: seconds(now - since) }),
    why: describeRoute(route),
    on_drain: pool.onLeave.operator,
    sessions: counts === undefined ? null : sessionsDocument(counts, now),
    ...(counts?.causalReads && { causal_reads: causalReadsDocument(counts.causalReads, pool.causalReads?.scope) }),
  };
}

function routeDocument(route: Route, age: { readonly for_seconds?: number }): RouteDocument {
  switch (route.kind) {
    case 'open': {
      const { targets, fallback, lagging } = route;
      const members = targets.map(({ member, address, weight, isFar }) => ({
        name: member,
        address: addressText(address),
        ...(weight !== undefined && { weight }),
        ...(isFar && { far: isFar }),
      }));
      const lent = fallback === undefined ? null : { pool: fallback.pool, max_sessions: fallback.maxSessions, ...age };
      const late = lagging === undefined ? {} : { lagging: { max_sessions: lagging.maxSessions, ...age } };
      return { kind: 'open', members, fallback: lent, ...late };
    }
    case 'hold':
      return { kind: 'hold', cause: route.cause, ...(isPlanned(route) ? { planned: true } : {}) };
    case 'closed':
      return { kind: 'closed' };
  }
}

function causalReadsDocument(
  { waiting, results, lastMinute }: CausalReadCounts,
  scope: ReadScope | undefined,
): CausalReadsDocument {
  const { results: recent, waitedMs, longestMs, lateOn } = lastMinute;
  const waits = sumOf(Object.values(recent), (count) => count) - recent.free;
  return {
    scope: scope ?? null,
    waiting,
    results,
    last_minute: {
      results: recent,
      late: lateIn(recent),
      late_on: Object.fromEntries(lateOn),
      mean_wait_seconds: waits === 0 ? null : waitSeconds(waitedMs / waits),
      longest_wait_seconds: waitSeconds(longestMs),
    },
  };
}

/** To the microsecond: most waits are shorter than a millisecond. */
function waitSeconds(ms: number): number {
  return Math.round(ms * 1000) / 1_000_000;
}

export function sessionsDocument(counts: PoolCounts, now: Instant): PoolSessionsDocument {
  const { ramping = new Map(), refusing, heldSince, latency = new Map() } = counts;
  return {
    by_state: counts.states,
    by_member: Object.fromEntries(counts.members),
    by_fallback: counts.fallbackSessions,
    ...(ramping.size === 0 ? {} : { slow_start: Object.fromEntries(ramping) }),
    ...(latency.size === 0 ? {} : { latency: latencyDocument(latency, now) }),
    ...(refusing === undefined || refusing.size === 0 ? {} : { refused_logins: refusedLogins(refusing, now) }),
    ...(heldSince === undefined ? {} : { longest_wait_seconds: seconds(now - heldSince) }),
    accepted: counts.accepted,
    closed: counts.closed,
    to_backend_bytes: counts.toBackendBytes,
    to_client_bytes: counts.toClientBytes,
  };
}

function latencyDocument(latency: Latencies, now: Instant): NonNullable<PoolSessionsDocument['latency']> {
  const entries = [...latency].map(([member, observed]) => {
    const { requestMs, loginMs, at, share } = observed;
    const times = { request_seconds: secondsOrNull(requestMs), login_seconds: secondsOrNull(loginMs) };
    const last_seconds = at === undefined ? null : seconds(now - at);
    return [member, { ...times, share, last_seconds, summary: describeLatency(observed, now) }] as const;
  });
  return Object.fromEntries(entries);
}

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : waitSeconds(ms);
}

function refusedLogins(
  refusing: NonNullable<PoolCounts['refusing']>,
  now: Instant,
): NonNullable<PoolSessionsDocument['refused_logins']> {
  const entries = [...refusing].map(([member, { sqlState, count, since, at }]) => {
    const newest = { sqlstate: sqlState ?? null, text: refusalText(sqlState) };
    return [member, { ...newest, count, for_seconds: seconds(now - since), last_seconds: seconds(now - at) }] as const;
  });
  return Object.fromEntries(entries);
}

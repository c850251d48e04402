// decideRoutes(snapshot, now) makes the routing table. The result is constant until `validUntil`: every comparison of
// ages goes through agesAt. Exclusive pools come first, because other pools may have their members by fallback only.
import { withEvidence } from './evidence.ts';
import { decideExclusive, isTried, type ExclusiveDecision } from './exclusive-pool.ts';
import { agesAt, type Ages, type Instant } from '../model/instant.ts';
import { isAllLagging, laggingCap } from './least-lagging.ts';
import type { Address, MemberName } from '../model/member.ts';
import type { PoolName, PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { PoolDecision, Route, RoutingTable, Target } from './routing-table.ts';
import { mapStandings, type Standing, type Standings } from './standing.ts';
import type { Why } from './why.ts';
import { withOverrides } from './operator-override.ts';
import { decideShared } from './shared-pool.ts';
import { weightAndZoneOf } from './weights-and-zones.ts';
import { withoutVanished } from './vanished.ts';
import { missedProbe, type Snapshot } from './snapshot.ts';

export function decideRoutes(policy: RoutingPolicy, snapshot: Snapshot, now: Instant): RoutingTable {
  const ages = agesAt(now);
  const { handover, ...others } = snapshot;
  const usual = handover && decideWith(policy, { ...others, handover: undefined }, ages);
  return decideWith(policy, snapshot, ages, usual);
}

/** `usual`: the table without the handover. */
function decideWith(policy: RoutingPolicy, snapshot: Snapshot, ages: Ages, usual?: RoutingTable): RoutingTable {
  const exclusives = new Map<PoolName, ExclusiveDecision>();
  for (const pool of policy.pools) {
    if (pool.exclusive) exclusives.set(pool.name, decideExclusive({ policy, snapshot, pool, ages }));
  }
  const served = new Map(
    [...exclusives].flatMap(([pool, { holders }]) => holders.map((name) => [name, pool] as const)),
  );
  const taken = new Set(served.keys());
  const isSettled = snapshot.complete && [...exclusives.values()].every((decision) => decision.winner !== undefined);
  const addresses = addressesOf(snapshot);
  const decided = new Map<PoolName, PoolDecision>();

  const decide = (pool: PoolPolicy): PoolDecision => {
    const known = decided.get(pool.name);
    if (known !== undefined) return known;
    const of = { policy, snapshot, pool, ages, usual };
    const exclusive = exclusives.get(pool.name);
    const fallbackPool = policy.pools.find((candidate) => candidate.name === pool.fallback?.pool);
    // Writes never guess: an exclusive pool has no fallback.
    const fallback = fallbackPool === undefined || pool.exclusive ? undefined : withoutTrial(decide(fallbackPool));
    const shared = (): Standings => withoutVanished(of, withPoolNames(served, decideShared(of, taken)), fallback);
    const own = withEvidence(of, withOverrides(of, exclusive?.standings ?? shared()));
    const targets = targetsOf(own, addresses, snapshot.complete, (member) => {
      const record = snapshot.members.get(member);
      const sharing = weightAndZoneOf(pool, policy.zone, record?.status);
      const isSuspect = !pool.exclusive && record !== undefined && missedProbe(record);
      const isStandbyReportStale = pool.exclusive && record?.standbyReport?.isStale === true;
      const isTrial = isTried(of, record);
      return {
        ...sharing,
        ...(isSuspect ? { isSuspect } : {}),
        ...(isStandbyReportStale ? { isStandbyReportStale } : {}),
        ...(isTrial ? { isTrial } : {}),
      };
    });
    const isRefused = pool.whenAllLagging === 'refuse' && isAllLagging(own);
    const need = targets.length > 0 ? 'none' : isRefused ? 'refused' : 'served';
    const standings = withFallback(own, pool.fallback?.pool, fallback, need);
    const [first, ...rest] = targets;
    const route: Route =
      first !== undefined
        ? { kind: 'open', targets: [first, ...rest], fallback: undefined, ...laggingCap(pool, own) }
        : (fallbackRoute(pool, isRefused ? undefined : fallback?.route) ??
          idleRoute(own, exclusive, isSettled, snapshot.complete));
    const decision: PoolDecision = { route, standings, addresses, refused: snapshot.refused };
    decided.set(pool.name, decision);
    return decision;
  };

  const pools = new Map(policy.pools.map((pool) => [pool.name, decide(pool)]));
  return { decidedAt: ages.now, validUntil: ages.validUntil(), pools, complete: snapshot.complete };
}

/** The table before the first observation: every pool holds. */
export function emptyTable(policy: RoutingPolicy, snapshot: Snapshot, now: Instant): RoutingTable {
  return decideRoutes(policy, { ...snapshot, members: new Map() }, now);
}

/** Adds the name of the exclusive pool that a member serves. */
function withPoolNames(served: ReadonlyMap<MemberName, PoolName>, standings: Standings): Standings {
  return mapStandings(standings, (standing, name) => {
    const { why } = standing;
    const pool = why.code === 'exclusive_elsewhere' ? served.get(name) : undefined;
    return pool === undefined ? standing : { ...standing, why: { ...why, detail: `pool ${pool}` } };
  });
}

function addressesOf(snapshot: Snapshot): ReadonlyMap<MemberName, Address> {
  const addresses = new Map<MemberName, Address>();
  for (const [name, { member }] of snapshot.members) {
    if (member.postgres !== undefined) addresses.set(name, member.postgres);
  }
  return addresses;
}

/** G13: nothing is routed before the first complete round. */
function targetsOf(
  standings: Standings,
  addresses: ReadonlyMap<MemberName, Address>,
  isComplete: boolean,
  marksOf: (member: MemberName) => Omit<Target, 'member' | 'address'>,
): readonly Target[] {
  const targets: Target[] = [];
  for (const [member, standing] of standings) {
    const address = addresses.get(member);
    if (!isComplete || standing.kind !== 'open' || address === undefined) continue;
    targets.push({ member, address, ...marksOf(member) });
  }
  return targets;
}

/** As pools that fall back to it see it. Its own client tries the server and tells the result; theirs wait for that. */
function withoutTrial(decision: PoolDecision): PoolDecision {
  const { route } = decision;
  return route.kind === 'open' && route.targets[0].isTrial === true
    ? { ...decision, route: { kind: 'hold', cause: 'in_recovery' } }
    : decision;
}

function fallbackRoute(pool: PoolPolicy, route: Route | undefined): Route | undefined {
  if (pool.fallback === undefined || route === undefined || route.kind === 'closed') return undefined;
  return route.kind === 'open' ? { ...route, fallback: pool.fallback } : route;
}

/** Holds clients while the situation may change by itself. Refuses them when every member gave a definite no. */
function idleRoute(
  standings: Standings,
  exclusive: ExclusiveDecision | undefined,
  isSettled: boolean,
  isComplete: boolean,
): Route {
  if (exclusive !== undefined) {
    // The operator keeps clients from the winner. They wait: no other member can serve them.
    const code = exclusive.winner && standings.get(exclusive.winner)?.why.code;
    if (code === 'drained') return { kind: 'hold', cause: 'drained' };
    if (code === 'switchover_due' || code === 'switchover_running') return { kind: 'hold', cause: 'switchover' };
    if (code === 'restart_running') return { kind: 'hold', cause: 'restart' };
    return exclusive.isStandbyCluster ? { kind: 'closed' } : { kind: 'hold', cause: exclusive.cause };
  }
  const isDefinite = isSettled && [...standings.values()].every((standing) => standing.kind === 'leave');
  if (isDefinite) return { kind: 'closed' };
  return { kind: 'hold', cause: isComplete ? 'no_member' : 'starting' };
}

/**
 * While no member of the pool itself is open, sessions stay on a member that the fallback pool would keep. They also
 * stay on a replica that was just promoted while the fallback pool holds: that pool is about to have this member.
 */
function withFallback(
  own: Standings,
  fallbackPool: PoolName | undefined,
  fallback: PoolDecision | undefined,
  need: 'none' | 'refused' | 'served',
): Standings {
  if (fallbackPool === undefined || fallback === undefined) return own;
  return mapStandings(own, (standing, name) => {
    if (standing.kind !== 'leave') return standing;
    if (standing.cause === 'promoted' && fallback.route.kind === 'hold') return { kind: 'keep', why: standing.why };
    const other = fallback.standings.get(name);
    if (other === undefined || other.kind === 'leave') return standing;
    const why = fallbackWhy(fallbackPool, other.why);
    return need === 'none' ? onStandBy(standing, why) : { kind: need === 'served' ? other.kind : 'keep', why };
  });
}

/**
 * A member that is excluded because it serves the fallback pool is described as the fallback. Another reason comes
 * first.
 */
function onStandBy(standing: Standing, why: Why): Standing {
  return standing.why.code === 'exclusive_elsewhere' ? { kind: 'leave', cause: 'fallback_over', why } : standing;
}

/** The evidence is that of the fallback pool. */
function fallbackWhy(fallbackPool: PoolName, { evidence }: Why): Why {
  return { code: 'fallback', detail: `pool ${fallbackPool}`, evidence };
}

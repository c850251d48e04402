// decideRoutes(snapshot, now) -> the routing table. Pure, and constant until `validUntil`: every age it compares goes
// through agesAt. Exclusive pools are decided first, because their members are in no other pool unless by fallback.
import { withEvidence } from './evidence.ts';
import { decideExclusive } from './exclusive-pool.ts';
import type { ExclusiveDecision } from './exclusive-pool.ts';
import { agesAt } from '../model/instant.ts';
import type { Instant } from '../model/instant.ts';
import { isAllLagging, laggingCap } from './least-lagging.ts';
import type { Address, MemberName } from '../model/member.ts';
import type { PoolName, PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { PoolDecision, Route, RoutingTable, Standing, Target, Why } from './routing-table.ts';
import { setAside } from './operator-override.ts';
import { decideShared } from './shared-pool.ts';
import { sharingOf } from './weights-and-zones.ts';
import { withoutVanished } from './vanished.ts';
import { missedProbe } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

export function decideRoutes(policy: RoutingPolicy, snapshot: Snapshot, now: Instant): RoutingTable {
  const ages = agesAt(now);
  const exclusives = new Map<PoolName, ExclusiveDecision>();
  for (const pool of policy.pools) {
    if (pool.exclusive) exclusives.set(pool.name, decideExclusive(snapshot, pool, policy.probe, ages));
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
    const exclusive = exclusives.get(pool.name);
    const lender = policy.pools.find((candidate) => candidate.name === pool.fallback?.pool);
    // Writes never guess: an exclusive pool borrows from nobody.
    const fallback = lender === undefined || pool.exclusive ? undefined : decide(lender);
    const shared = (): ReadonlyMap<MemberName, Standing> => {
      const known = naming(served, decideShared(snapshot, pool, policy.probe, taken, ages));
      return withoutVanished(snapshot, policy.probe, known, fallback);
    };
    const bare = exclusive?.standings ?? shared();
    const own = withEvidence(snapshot, pool, policy.probe, setAside({ policy, snapshot, pool, ages }, bare));
    const targets = targetsOf(own, addresses, snapshot.complete, (member) => {
      const record = snapshot.members.get(member);
      const sharing = sharingOf(pool, policy.zone, record?.status);
      const isSuspect = !pool.exclusive && record !== undefined && missedProbe(record);
      const isStandbyWordStale = pool.exclusive && record?.standbyWord?.isStale === true;
      return {
        ...sharing,
        ...(isSuspect ? { isSuspect } : {}),
        ...(isStandbyWordStale ? { isStandbyWordStale } : {}),
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
  return { decidedAt: now, validUntil: ages.validUntil(), pools, complete: snapshot.complete };
}

/** The table before anything was observed: every pool holds. */
export function emptyTable(policy: RoutingPolicy, snapshot: Snapshot, now: Instant): RoutingTable {
  return decideRoutes(policy, { ...snapshot, members: new Map() }, now);
}

/** Which pool it is that a member serves instead. */
function naming(
  served: ReadonlyMap<MemberName, PoolName>,
  standings: ReadonlyMap<MemberName, Standing>,
): ReadonlyMap<MemberName, Standing> {
  return new Map(
    [...standings].map(([name, standing]) => {
      const { why } = standing;
      const pool = why.code === 'exclusive_elsewhere' ? served.get(name) : undefined;
      return [name, pool === undefined ? standing : { ...standing, why: { ...why, detail: `pool ${pool}` } }];
    }),
  );
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
  standings: ReadonlyMap<MemberName, Standing>,
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

function fallbackRoute(pool: PoolPolicy, route: Route | undefined): Route | undefined {
  if (pool.fallback === undefined || route === undefined || route.kind === 'closed') return undefined;
  return route.kind === 'open' ? { ...route, fallback: pool.fallback } : route;
}

/** Held while the picture may still change by itself; refused when every member gave a definite no. */
function idleRoute(
  standings: ReadonlyMap<MemberName, Standing>,
  exclusive: ExclusiveDecision | undefined,
  isSettled: boolean,
  isComplete: boolean,
): Route {
  if (exclusive !== undefined) {
    // A winner that is not open is set aside; whoever waits for it is not sent elsewhere.
    const code = exclusive.winner && standings.get(exclusive.winner)?.why.code;
    if (code === 'drained') return { kind: 'hold', cause: 'drained' };
    if (code === 'switchover_due') return { kind: 'hold', cause: 'switchover' };
    return exclusive.isStandbyCluster ? { kind: 'closed' } : { kind: 'hold', cause: exclusive.cause };
  }
  const isDefinite = isSettled && [...standings.values()].every((standing) => standing.kind === 'leave');
  if (isDefinite) return { kind: 'closed' };
  return { kind: 'hold', cause: isComplete ? 'no_member' : 'starting' };
}

/**
 * While nobody of the pool itself is open, sessions stay with a member that the lending pool would keep. So do those of
 * a reader that says it is the primary now, while the lending pool has nobody: that pool is about to have this member.
 */
function withFallback(
  own: ReadonlyMap<MemberName, Standing>,
  lender: PoolName | undefined,
  fallback: PoolDecision | undefined,
  need: 'none' | 'refused' | 'served',
): ReadonlyMap<MemberName, Standing> {
  if (lender === undefined || fallback === undefined) return own;
  const standings = new Map<MemberName, Standing>();
  for (const [name, standing] of own) {
    const lent = standing.kind === 'leave' ? fallback.standings.get(name) : undefined;
    const isHeir = standing.kind === 'leave' && standing.cause === 'promoted' && fallback.route.kind === 'hold';
    if (isHeir) standings.set(name, { kind: 'keep', why: standing.why });
    else if (lent === undefined || lent.kind === 'leave') standings.set(name, standing);
    else if (need === 'none') standings.set(name, onStandBy(standing, lentWhy(lender, lent.why)));
    else standings.set(name, { kind: need === 'served' ? lent.kind : 'keep', why: lentWhy(lender, lent.why) });
  }
  return standings;
}

/**
 * A member that is out for serving the lending pool is named as the fallback that it is; another reason outweighs that.
 */
function onStandBy(standing: Standing, why: Why): Standing {
  return standing.why.code === 'exclusive_elsewhere' ? { kind: 'leave', cause: 'fallback_over', why } : standing;
}

/** It stands on what the lending pool knows of it. */
function lentWhy(lender: PoolName, { evidence }: Why): Why {
  return { code: 'fallback', detail: `pool ${lender}`, ...(evidence === undefined ? {} : { evidence }) };
}

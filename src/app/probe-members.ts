// One round of probes for `check --live`: what each member answers, whether its PostgreSQL port accepts, and the table
// that the decision would make of it.
import type { MonitorOptions } from '../monitor/options.ts';
import type { LiveReport, ProbedMember, ProbedPool } from '../cli/live-check.ts';
import { decideRoutes } from '../core/decide-routes.ts';
import { describeRoute, describeStanding } from '../core/describe.ts';
import { nextCheck } from '../core/next-check.ts';
import { observe } from '../core/observe.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import { emptySnapshot } from '../core/snapshot.ts';
import type { Instant } from '../model/instant.ts';
import { addressText, type Member } from '../model/member.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import { askPort } from '../patroni/port-state.ts';

export interface ProbeMembersOptions extends Pick<MonitorOptions, 'policy' | 'scope' | 'probe' | 'clock'> {
  readonly members: readonly Member[];
  /** For one connect to a PostgreSQL port. Milliseconds. */
  readonly connectMs: number;
}

/** Never rejects. */
export async function probeMembers(options: ProbeMembersOptions): Promise<Omit<LiveReport, 'seeds'>> {
  const { members, probe, connectMs, clock } = options;
  // One round has to do, so one yes is enough.
  const policy = { ...options.policy, probe: { ...options.policy.probe, rise: 1 } };
  const startedAt = clock.now();
  let snapshot = observe(policy, emptySnapshot(options.scope), { kind: 'members', startedAt, members });
  const ask = async (member: Member): Promise<void> => {
    for (;;) {
      const record = snapshot.members.get(member.name);
      const check = record && nextCheck(policy, record, startedAt, new Set());
      if (check === undefined) return;
      const askedAt = clock.now();
      const outcome = await probe(member, check, policy.probe.timeoutMs);
      snapshot = observe(policy, snapshot, {
        kind: 'probe',
        member: member.name,
        check: check.text,
        startedAt: askedAt,
        outcome,
      });
    }
  };
  const [ports] = await Promise.all([
    Promise.all(members.map(({ postgres }) => askPort(postgres, connectMs))),
    ...members.map(ask),
  ]);
  const now = clock.now();
  const table = decideRoutes(policy, snapshot, now);
  return {
    // Patroni before 3.2 has it in the status of a member only.
    scope: snapshot.scope,
    members: members.map((member, i) => ({
      ...standingOf(policy, table, member, now),
      port: ports[i] ?? 'unknown',
      role: snapshot.members.get(member.name)?.status?.role,
      timeline: snapshot.members.get(member.name)?.status?.timeline,
    })),
    pools: poolsOf(policy, table),
  };
}

function standingOf(
  policy: RoutingPolicy,
  table: RoutingTable,
  { name, api, postgres }: Member,
  now: Instant,
): Omit<ProbedMember, 'port' | 'role' | 'timeline'> {
  const pools = policy.pools.filter((pool) => table.pools.get(pool.name)?.standings.get(name)?.kind === 'open');
  // A pool of the primary only says of a replica that it is not the primary.
  const telling = policy.pools.find((pool) => !pool.exclusive) ?? policy.pools[0];
  const standing = telling && table.pools.get(telling.name)?.standings.get(name);
  return {
    name,
    api: api.url,
    postgres: postgres && addressText(postgres),
    pools: pools.map((pool) => pool.name),
    why: pools.length > 0 || standing === undefined ? undefined : describeStanding(standing, now),
  };
}

function poolsOf(policy: RoutingPolicy, table: RoutingTable): readonly ProbedPool[] {
  return policy.pools.flatMap(({ name, check, exclusive }) => {
    const route = table.pools.get(name)?.route;
    if (route === undefined) return [];
    const members = route.kind === 'open' ? route.targets.map(({ member }) => member) : [];
    return [{ name, check: check.text, exclusive, members, why: describeRoute(route) }];
  });
}

// A member of a shared pool whose host vanished: its API and its PostgreSQL port were silent for several probes in a
// row. Its sessions would hang until silence_grace, so they end as soon as another member has answered a probe that
// began with the last of these or later. Until then the fault may be on this machine (G12).
import type { Instant } from '../model/instant.ts';
import type { ProbePolicy } from '../model/policy.ts';
import type { PoolDecision } from './routing-table.ts';
import type { MemberRecord } from './snapshot.ts';
import { leave, mapStandings, silence, type PoolCase, type Standings } from './standing.ts';

/** Members that vanished leave. `fallback`: the pool that serves when this one has no member. */
export function withoutVanished(
  { policy, snapshot }: PoolCase,
  standings: Standings,
  fallback: PoolDecision | undefined,
): Standings {
  const { silentProbes = Infinity } = policy.probe;
  const open = [...standings].flatMap(([name, { kind }]) => (kind === 'open' ? [name] : []));
  const behind = fallback?.route.kind === 'open' ? fallback.route.targets.map(({ member }) => member) : [];
  const others = [...open, ...behind].flatMap((name) => snapshot.members.get(name) ?? []);
  const hasAnswered = (since: Instant): boolean => others.some(({ answeredAt = -Infinity }) => answeredAt >= since);
  return mapStandings(standings, (standing, name) => {
    const record = snapshot.members.get(name);
    // The member that serves an exclusive pool is judged by that pool's clocks.
    if (record === undefined || standing.why.code === 'exclusive_elsewhere') return standing;
    const { silentProbes: count = 0, vanishedAt = Infinity } = record.failure ?? {};
    return count >= silentProbes && hasAnswered(vanishedAt)
      ? leave('silent', { ...silence(record), code: 'vanished' })
      : standing;
  });
}

/** Some probes in a row were silent, but not enough of them yet: the next one should come soon. */
export function isVanishing({ failure }: MemberRecord, { silentProbes = 0 }: ProbePolicy): boolean {
  return failure !== undefined && failure.silentProbes > 0 && failure.silentProbes < silentProbes;
}

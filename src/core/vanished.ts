// A member of a shared pool whose host is gone without a word: its API and its PostgreSQL port have been silent for
// several probes in a row. Its sessions would hang until silence_grace, so they end at once, as long as another member
// answers: when nobody does, the silence is probably ours (G12).
import { silence } from './exclusive-pool.ts';
import type { MemberName } from '../model/member.ts';
import type { ProbePolicy } from '../model/policy.ts';
import type { PoolDecision, Standing } from './routing-table.ts';
import type { MemberRecord, Snapshot } from './snapshot.ts';

type Standings = ReadonlyMap<MemberName, Standing>;

/**
 * The same standings without the members that vanished. `fallback`: where the pool's sessions go when it has no member.
 */
export function withoutVanished(
  snapshot: Snapshot,
  { silentProbes }: ProbePolicy,
  standings: Standings,
  fallback: PoolDecision | undefined,
): Standings {
  if (silentProbes === undefined) return standings;
  const answers = (name: MemberName): boolean => {
    const record = snapshot.members.get(name);
    return record !== undefined && record.failure === undefined;
  };
  const isServed =
    [...standings].some(([name, { kind }]) => kind === 'open' && answers(name)) ||
    (fallback?.route.kind === 'open' && fallback.route.targets.some(({ member }) => answers(member)));
  if (!isServed) return standings;
  const left = new Map<MemberName, Standing>();
  for (const [name, standing] of standings) {
    const record = snapshot.members.get(name);
    // An exclusive pool decides by its own clocks about the member that serves it.
    const isDecidedHere = record !== undefined && standing.why.code !== 'exclusive_elsewhere';
    const hasVanished = isDecidedHere && (record.failure?.silentProbes ?? 0) >= silentProbes;
    left.set(
      name,
      hasVanished ? { kind: 'leave', cause: 'silent', why: { ...silence(record), code: 'vanished' } } : standing,
    );
  }
  return left;
}

/** Some probes in a row were silent, and not yet enough of them: the next one should come soon. */
export function isVanishing({ failure }: MemberRecord, { silentProbes = 0 }: ProbePolicy): boolean {
  return failure !== undefined && failure.silentProbes > 0 && failure.silentProbes < silentProbes;
}

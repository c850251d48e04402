// What an operator wants of members whatever they answer: drained by hand. Only ever takes a member away, never gives one.
import type { MemberName } from './member.ts';
import { LEAVE_FORCE } from './policy.ts';
import type { PoolPolicy } from './policy.ts';
import type { Standing } from './routing-table.ts';
import type { Snapshot } from './snapshot.ts';

/** The same standings with what the operator wants; a cause that asks more of the member's sessions goes before. */
export function setAside(
  snapshot: Snapshot,
  pool: PoolPolicy,
  standings: ReadonlyMap<MemberName, Standing>,
): ReadonlyMap<MemberName, Standing> {
  if (snapshot.drained.size === 0) return standings;
  return new Map(
    [...standings].map(([name, standing]) => {
      const since = snapshot.drained.get(name);
      return [name, since === undefined || isHarder(pool, standing) ? standing : drained(since)];
    }),
  );
}

function isHarder({ onLeave }: PoolPolicy, standing: Standing): boolean {
  return standing.kind === 'leave' && LEAVE_FORCE[onLeave[standing.cause]] > LEAVE_FORCE[onLeave.operator];
}

function drained(since: number): Standing {
  return { kind: 'leave', cause: 'operator', why: { code: 'drained', since } };
}

// What an operator wants of members whatever they answer: drained by hand, or about to hand over by schedule. Only ever takes a member
// away, never gives one.
import type { Ages, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { LEAVE_FORCE } from '../model/policy.ts';
import type { PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { Standing } from './routing-table.ts';
import type { Snapshot } from './snapshot.ts';

/** A leader that still serves so long after its time has not handed over. Milliseconds. */
export const OVERDUE_MS = 15_000;

export interface Setting {
  readonly policy: RoutingPolicy;
  readonly snapshot: Snapshot;
  readonly pool: PoolPolicy;
  readonly ages: Ages;
}

/** The same standings with what the operator wants; a cause that asks more of the member's sessions goes before. */
export function setAside(
  setting: Setting,
  standings: ReadonlyMap<MemberName, Standing>,
): ReadonlyMap<MemberName, Standing> {
  return new Map([...standings].map(([name, standing]) => [name, wanted(setting, name, standing)]));
}

function wanted({ policy, snapshot, pool, ages }: Setting, name: MemberName, standing: Standing): Standing {
  const since = snapshot.drained.get(name);
  if (since !== undefined && !isHarder(pool, standing)) {
    return { kind: 'leave', cause: 'operator', why: { code: 'drained', since } };
  }
  if (!pool.exclusive || standing.kind !== 'open' || snapshot.switchover?.leader !== name) return standing;
  const { at } = snapshot.switchover;
  return isDue(at, policy.hold.beforeSwitchoverMs, ages)
    ? { kind: 'keep', why: { code: 'switchover_due', since: at } }
    : standing;
}

function isHarder({ onLeave }: PoolPolicy, standing: Standing): boolean {
  return standing.kind === 'leave' && LEAVE_FORCE[onLeave[standing.cause]] > LEAVE_FORCE[onLeave.operator];
}

/** From `beforeMs` before the time until it is overdue. */
function isDue(at: Instant, beforeMs: number, ages: Ages): boolean {
  if (beforeMs === 0) return false;
  const isAhead = ages.isYoung(at - beforeMs, 0);
  return !isAhead && ages.isYoung(at, OVERDUE_MS);
}

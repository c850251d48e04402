// The operator's wishes that override the evidence: a drained member, or a primary that is scheduled to hand over. An
// override takes members away and never adds one.
import type { Ages, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { LEAVE_FORCE } from '../model/policy.ts';
import type { PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { Snapshot } from './snapshot.ts';
import { leave } from './standing.ts';
import type { Standing, Standings } from './standing.ts';

/** A leader that still serves this long after the scheduled time has not handed over. Milliseconds. */
export const OVERDUE_MS = 15_000;

export interface OverrideInputs {
  readonly policy: RoutingPolicy;
  readonly snapshot: Snapshot;
  readonly pool: PoolPolicy;
  readonly ages: Ages;
}

/** A cause that asks more of the member's sessions than the operator's wish stays. */
export function withOverrides(inputs: OverrideInputs, standings: Standings): Standings {
  return new Map([...standings].map(([name, standing]) => [name, overridden(inputs, name, standing)]));
}

function overridden({ policy, snapshot, pool, ages }: OverrideInputs, name: MemberName, standing: Standing): Standing {
  const since = snapshot.drained.get(name);
  if (since !== undefined && !isHarder(pool, standing)) {
    return leave('operator', { code: 'drained', since });
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

/** True from `beforeMs` before the scheduled time until it is overdue. */
function isDue(at: Instant, beforeMs: number, ages: Ages): boolean {
  if (beforeMs === 0) return false;
  const isAhead = ages.isYoung(at - beforeMs, 0);
  return !isAhead && ages.isYoung(at, OVERDUE_MS);
}

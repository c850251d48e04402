// The operator's wishes that override the evidence: a drained member, a primary that is scheduled to hand over, one
// that hands over now, or a member that is about to restart. An override takes members away and never adds one.
import type { Ages, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { isHarder } from '../model/policy.ts';
import type { RoutingTable } from './routing-table.ts';
import { leave, leaveMode, mapStandings, type PoolCase, type Standing, type Standings } from './standing.ts';

/** A leader that still serves this long after the scheduled time has not handed over. Milliseconds. */
export const OVERDUE_MS = 15_000;

/** How often each Pointsman reads the list of members, which has the scheduled switchover. Milliseconds. */
export const LIST_INTERVAL_MS = { usual: 10_000, longest: 11_000 };

export interface OverrideCase extends PoolCase {
  /** The table without the handover. */
  readonly usual: RoutingTable | undefined;
}

/** A cause that asks more of the member's sessions than the operator's wish stays. */
export function withOverrides(of: OverrideCase, standings: Standings): Standings {
  return mapStandings(standings, (standing, name) => overridden(of, name, standing));
}

function overridden(of: OverrideCase, name: MemberName, standing: Standing): Standing {
  const { policy, snapshot, pool, ages } = of;
  const handed = handedOver(of, name, standing);
  if (handed !== undefined) return handed;
  const since = snapshot.drained.get(name);
  const isGoing = standing.kind === 'leave' && isHarder(leaveMode(pool, standing), pool.onLeave.operator);
  if (since !== undefined && !isGoing) return leave('operator', { code: 'drained', since });
  if (!pool.exclusive || standing.kind !== 'open' || snapshot.switchover?.leader !== name) return standing;
  const { at } = snapshot.switchover;
  return isDue(at, policy.hold.beforeSwitchoverMs, ages)
    ? { kind: 'keep', why: { code: 'switchover_due', since: at } }
    : standing;
}

/** In every pool, because the member's restart ends every session on it. Undefined: the standing asks for more. */
function handedOver(
  { snapshot: { handover }, pool, ages, usual }: OverrideCase,
  name: MemberName,
  standing: Standing,
): Standing | undefined {
  if (handover?.member !== name || !ages.isYoung(handover.since, handover.mostMs)) return undefined;
  const { operation, phase, since, transactionMs } = handover;
  const why = { code: `${operation}_running`, since } as const;
  if (phase === 'hold') return standing.kind === 'open' ? { kind: 'keep', why } : undefined;
  // The pool may have sent sessions there as its fallback; the standing does not show it.
  const served = usual?.pools.get(pool.name)?.standings.get(name) ?? standing;
  const isClosing = served.kind === 'leave' && leaveMode(pool, served) === 'close';
  return isClosing ? undefined : { ...leave(operation, why), limitMs: transactionMs };
}

/** True from `beforeMs` before the scheduled time until it is overdue. */
function isDue(at: Instant, beforeMs: number, ages: Ages): boolean {
  if (beforeMs === 0) return false;
  const isAhead = ages.isYoung(at - beforeMs, 0);
  return !isAhead && ages.isYoung(at, OVERDUE_MS);
}

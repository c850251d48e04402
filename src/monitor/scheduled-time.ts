// When a scheduled switchover is due, on our monotonic clock. The members keep to their own clocks, so a member's Date
// counts where it contradicts ours. The only use of the wall clock.
import type { Instant } from '../model/instant.ts';
import type { MemberList, ScheduledSwitchover } from '../model/observation.ts';

export interface TwoClocks {
  readonly now: Instant;
  /** Milliseconds since the epoch. */
  readonly wallClock: number;
}

/** HTTP has whole seconds. Milliseconds. */
const DATE_STEP_MS = 1000;

/** `read`: the end of the read of that list. */
export function scheduledTime(
  { leader, scheduledSwitchoverAt: scheduled, date, startedAt }: MemberList,
  read: TwoClocks,
): ScheduledSwitchover | undefined {
  if (leader === undefined || scheduled === undefined) return undefined;
  const own = read.now + (scheduled - read.wallClock);
  if (date === undefined) return { at: own, leader: leader.name };
  // The member's clock showed `date` to `date` + 1 s at some moment of the read.
  const earliest = startedAt + (scheduled - date - DATE_STEP_MS);
  const latest = read.now + (scheduled - date);
  return { at: own < earliest || own > latest ? earliest : own, leader: leader.name };
}

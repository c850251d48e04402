// When to probe faster than usual. Something triggers: every member is asked at the urgent pace, for a bounded time, then
// ever more slowly until the ordinary pace is reached, so that a long outage does not hammer the members. Pure.
import type { Instant } from '../model/instant.ts';
import type { ProbePolicy } from '../model/policy.ts';

/** An episode of urgent probing; undefined while all is calm. */
export interface Urgency {
  readonly since: Instant;
  readonly triggeredAt: Instant;
}

/** An episode ends when nothing has smelled for this long. Milliseconds. */
const CALM_AFTER_MS = 2000;
/** Past `urgent.for` the interval doubles once in this time. Milliseconds. */
const DOUBLE_EVERY_MS = 5000;

/** `isNews`: something that had not been seen yet in this episode (a promotion under way), which begins it anew. */
export function triggered(urgency: Urgency | undefined, now: Instant, isNews: boolean): Urgency {
  const isGoingOn = urgency !== undefined && now - urgency.triggeredAt < CALM_AFTER_MS;
  return { since: isGoingOn && !isNews ? urgency.since : now, triggeredAt: now };
}

export function isUrgent(urgency: Urgency | undefined, now: Instant): boolean {
  return urgency !== undefined && now - urgency.triggeredAt < CALM_AFTER_MS;
}

/** From the start of one round to the start of the next, before jitter. Milliseconds. */
export function roundIntervalMs(probe: ProbePolicy, urgency: Urgency | undefined, now: Instant): number {
  if (urgency === undefined || !isUrgent(urgency, now)) return probe.intervalMs;
  const overtime = now - urgency.since - probe.urgent.forMs;
  if (overtime <= 0) return probe.urgent.intervalMs;
  return Math.min(probe.intervalMs, probe.urgent.intervalMs * 2 ** Math.ceil(overtime / DOUBLE_EVERY_MS));
}

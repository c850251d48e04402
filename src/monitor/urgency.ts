// When to probe faster than usual. After a trigger all members are probed at the urgent interval for a limited time.
// Then the interval grows back to the usual one, so that a long outage does not overload the members. Pure.
import type { Instant } from '../model/instant.ts';
import type { ProbePolicy } from '../model/policy.ts';

/** An episode of urgent probing. */
export interface Urgency {
  readonly since: Instant;
  readonly triggeredAt: Instant;
}

/** An episode ends after this long without a trigger. Milliseconds. */
const CALM_AFTER_MS = 2000;
/** After `urgent.for` the interval doubles once in this time. Milliseconds. */
const DOUBLE_EVERY_MS = 5000;

/** `isNews`: the first trigger of its kind in this episode (such as a promotion); it restarts the episode. */
export function triggered(urgency: Urgency | undefined, now: Instant, isNews: boolean): Urgency {
  const isGoingOn = urgency !== undefined && now - urgency.triggeredAt < CALM_AFTER_MS;
  return { since: isGoingOn && !isNews ? urgency.since : now, triggeredAt: now };
}

export function isUrgent(urgency: Urgency | undefined, now: Instant): boolean {
  return urgency !== undefined && now - urgency.triggeredAt < CALM_AFTER_MS;
}

/** Between the starts of two rounds, before jitter. Milliseconds. */
export function roundIntervalMs(probe: ProbePolicy, urgency: Urgency | undefined, now: Instant): number {
  if (urgency === undefined || !isUrgent(urgency, now)) return probe.intervalMs;
  const overtime = now - urgency.since - probe.urgent.forMs;
  if (overtime <= 0) return probe.urgent.intervalMs;
  return Math.min(probe.intervalMs, probe.urgent.intervalMs * 2 ** Math.ceil(overtime / DOUBLE_EVERY_MS));
}

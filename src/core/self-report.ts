// A member's report about itself, whether or not it is believed. A refused primary is judged by it: how long the member
// has reported the same, and how long the other members have.
import type { Check } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { isPlainlyNotPrimary, judge } from './verdict.ts';

export interface SelfReport {
  readonly systemIdentifier: string | undefined;
  readonly timeline: number | undefined;
  /** It answers yes to a check for primaries, and its PostgreSQL takes writes. */
  readonly isPrimary: boolean;
  /** The first and the newest answer of a run of equal reports without a gap. */
  readonly since: Instant;
  readonly at: Instant;
}

export interface ReportedAnswer {
  readonly check: Check;
  readonly status: 200 | 503;
  readonly body: MemberStatus;
  readonly at: Instant;
}

/** A gap of `gapMs` between two answers begins a new run. Milliseconds. */
export function nextSelfReport(previous: SelfReport | undefined, heard: ReportedAnswer, gapMs: number): SelfReport {
  const { body, at } = heard;
  const { systemIdentifier, timeline } = body;
  const isPrimary = isPrimaryBy(previous, heard);
  const isSame =
    previous !== undefined &&
    previous.systemIdentifier === systemIdentifier &&
    previous.timeline === timeline &&
    previous.isPrimary === isPrimary &&
    at < previous.at + gapMs;
  return { systemIdentifier, timeline, isPrimary, since: isSame ? previous.since : at, at };
}

/** An answer to another check does not show the leader lock, but its body may exclude a primary. */
function isPrimaryBy(previous: SelfReport | undefined, { check, status, body }: ReportedAnswer): boolean {
  const isAsked = check.family === 'primary' || check.family === 'leader';
  if (isAsked) return judge(check, status, body).kind === 'positive' && !isPlainlyNotPrimary(body);
  return !isPlainlyNotPrimary(body) && previous?.isPrimary === true;
}

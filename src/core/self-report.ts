// What a member says of itself, whether or not it is believed. A primary that is refused is judged by this: since when
// it says the same, and since when the others do.
import type { Check } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { isPlainlyNotPrimary, judge } from './verdict.ts';

export interface OwnWord {
  readonly systemIdentifier: string | undefined;
  readonly timeline: number | undefined;
  /** It answers yes to a check of primaries, and its PostgreSQL takes writes. */
  readonly isPrimary: boolean;
  /** The first and the newest answer of a run that says the same without a gap. */
  readonly since: Instant;
  readonly at: Instant;
}

export interface Heard {
  readonly check: Check;
  readonly status: 200 | 503;
  readonly body: MemberStatus;
  readonly at: Instant;
}

/** A gap of `gapMs` between two answers begins a new run. */
export function nextWord(previous: OwnWord | undefined, heard: Heard, gapMs: number): OwnWord {
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

/** An answer to another check says nothing about the leader lock, unless its body excludes a primary. */
function isPrimaryBy(previous: OwnWord | undefined, { check, status, body }: Heard): boolean {
  const isAsked = check.family === 'primary' || check.family === 'leader';
  if (isAsked) return judge(check, status, body).kind === 'positive' && !isPlainlyNotPrimary(body);
  return !isPlainlyNotPrimary(body) && previous?.isPrimary === true;
}

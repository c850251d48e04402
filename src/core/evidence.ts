// What a standing rests on beside its reason: the answer that was judged, and the bounds it was measured by. Instants, no ages, so
// that the decision stays constant while the sentence about it grows older (describe.ts).
import type { Instant } from '../model/instant.ts';
import { primaryPositions, recentLags } from './lag.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, ProbePolicy } from '../model/policy.ts';
import type { Standing } from './routing-table.ts';
import type { CheckRecord, MemberRecord, Position, Snapshot } from './snapshot.ts';

/** One answer: to which check, with what status, asked when. */
export interface Answer {
  readonly to: string;
  readonly status: 200 | 503;
  readonly at: Instant;
}

export interface Evidence {
  readonly check: string;
  readonly isExclusive: boolean;
  /** The newest answer that was judged. Absent: none, or both ports refused. */
  readonly answer?: Answer;
  /** The newest yes to the check. */
  readonly yesAt?: Instant;
  /** What the newest answer says of the check. */
  readonly isYes?: boolean;
  readonly timeline?: number;
  /** Answers in a row on the newest one's side, and how many would decide. */
  readonly streak?: { readonly count: number; readonly needed: number };
  /** Since then nothing was answered. */
  readonly silentSince?: Instant;
  readonly vouch?: { readonly by: MemberName; readonly at: Instant };
  readonly mismatchAt?: Instant;
  /** By our own reckoning, with the check's bound. Bytes. */
  readonly lag?: { readonly bytes: number; readonly boundBytes: number };
  /** New sessions need a yes younger than `freshMs`; live ones end when the last answer is `graceMs` old. */
  readonly freshMs: number;
  readonly graceMs: number;
}

/** The same standings, each with its evidence. */
export function withEvidence(
  snapshot: Snapshot,
  pool: PoolPolicy,
  probe: ProbePolicy,
  standings: ReadonlyMap<MemberName, Standing>,
): ReadonlyMap<MemberName, Standing> {
  const primary = pool.check.lagBytes === undefined ? [] : primaryPositions(snapshot);
  const grounded = new Map<MemberName, Standing>();
  for (const [name, standing] of standings) {
    const record = snapshot.members.get(name);
    const why = record && { ...standing.why, evidence: evidenceOf(record, pool, probe, primary) };
    grounded.set(name, why === undefined ? standing : { ...standing, why });
  }
  return grounded;
}

function evidenceOf(
  record: MemberRecord,
  pool: PoolPolicy,
  probe: ProbePolicy,
  primary: readonly Position[],
): Evidence {
  const { failure, vouch, mismatch } = record;
  const { text, lagBytes: boundBytes } = pool.check;
  const [bytes] = boundBytes === undefined ? [] : recentLags(primary, record, 1);
  return {
    check: text,
    isExclusive: pool.exclusive,
    ...ofCheck(record.checks.get(text), probe),
    ...(failure === undefined ? {} : { silentSince: failure.since }),
    ...(vouch === undefined ? {} : { vouch }),
    ...(mismatch === undefined ? {} : { mismatchAt: mismatch.at }),
    ...(bytes === undefined || boundBytes === undefined ? {} : { lag: { bytes, boundBytes } }),
    freshMs: pool.exclusive ? probe.writeMaxAgeMs : probe.readMaxAgeMs,
    graceMs: probe.silenceGraceMs,
  };
}

type OfCheck = Pick<Evidence, 'answer' | 'yesAt' | 'isYes' | 'timeline' | 'streak'>;

function ofCheck(check: CheckRecord | undefined, probe: ProbePolicy): OfCheck {
  if (check === undefined) return {};
  const { answer, at, positiveAt, positiveTimeline, streak, verdict } = check;
  const isYes = verdict.kind === 'positive';
  return {
    isYes,
    streak: { count: streak, needed: isYes ? probe.rise : probe.fall },
    ...(answer === undefined ? {} : { answer: { ...answer, at } }),
    ...(positiveAt === undefined ? {} : { yesAt: positiveAt }),
    ...(positiveTimeline === undefined ? {} : { timeline: positiveTimeline }),
  };
}

// Adds to each standing the evidence that it rests on.
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, ProbePolicy } from '../model/policy.ts';
import { primaryPositions, recentLags } from './lag.ts';
import type { CheckRecord, MemberRecord, Position, Snapshot } from './snapshot.ts';
import type { Standing, Standings } from './standing.ts';
import type { Evidence } from './why.ts';

export function withEvidence(
  snapshot: Snapshot,
  pool: PoolPolicy,
  probe: ProbePolicy,
  standings: Standings,
): Standings {
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

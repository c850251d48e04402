// Adds to each standing the evidence that it rests on.
import type { ProbePolicy } from '../model/policy.ts';
import { primaryPositions, recentLags } from './lag.ts';
import type { CheckRecord, MemberRecord, Position } from './snapshot.ts';
import { mapStandings, type PoolCase, type Standings } from './standing.ts';
import type { Evidence } from './why.ts';

export function withEvidence(of: PoolCase, standings: Standings): Standings {
  const primary = of.pool.check.lagBytes === undefined ? [] : primaryPositions(of.snapshot);
  return mapStandings(standings, (standing, name) => {
    const record = of.snapshot.members.get(name);
    if (record === undefined) return standing;
    return { ...standing, why: { ...standing.why, evidence: evidenceOf(record, of, primary) } };
  });
}

function evidenceOf(record: MemberRecord, { pool, policy }: PoolCase, primary: readonly Position[]): Evidence {
  const { probe } = policy;
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

function ofCheck(check: CheckRecord | undefined, probe: ProbePolicy): Partial<Evidence> {
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

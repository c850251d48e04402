// Adds to each standing the evidence that it rests on.
import { primaryPositions, recentLags } from './lag.ts';
import type { MemberRecord, Position, Snapshot } from './snapshot.ts';
import { stalenessMs } from './staleness.ts';
import { mapStandings, type PoolCase, type Standings } from './standing.ts';
import type { Evidence } from './why.ts';

export function withEvidence(of: PoolCase, standings: Standings): Standings {
  const primary = primaryPositions(of.snapshot);
  return mapStandings(standings, (standing, name) => {
    const record = of.snapshot.members.get(name);
    if (record === undefined) return standing;
    return { ...standing, why: { ...standing.why, evidence: evidenceOf(record, of, primary) } };
  });
}

function evidenceOf(record: MemberRecord, of: PoolCase, primary: readonly Position[]): Evidence {
  const { pool, policy, snapshot } = of;
  const { probe } = policy;
  const { failure, vouch, mismatch } = record;
  const { text, lagBytes: boundBytes } = pool.check;
  const limitMs = pool.maxStalenessMs;
  const check = record.checks.get(text);
  const isYes = check && check.verdict.kind === 'positive';
  return {
    check: text,
    isExclusive: pool.exclusive,
    isYes,
    streak: check && { count: check.streak, needed: isYes === true ? probe.rise : probe.fall },
    answer: check?.answer && { ...check.answer, at: check.at },
    yesAt: check?.positiveAt,
    timeline: check?.positiveTimeline,
    silentSince: failure?.since,
    isHostSilent: failure && failure.silentProbes > 0,
    vouch,
    mismatchAt: mismatch?.at,
    lag: boundBytes === undefined ? undefined : lagOf(record, primary, boundBytes),
    staleness: limitMs === undefined ? undefined : stalenessOf(snapshot, record, primary, limitMs),
    freshMs: pool.exclusive ? probe.writeMaxAgeMs : probe.readMaxAgeMs,
    graceMs: probe.silenceGraceMs,
  };
}

function lagOf(record: MemberRecord, primary: readonly Position[], boundBytes: number): Evidence['lag'] {
  const [bytes] = recentLags(primary, record, 1);
  return bytes === undefined ? undefined : { bytes, boundBytes };
}

function stalenessOf(
  snapshot: Snapshot,
  record: MemberRecord,
  primary: readonly Position[],
  limitMs: number,
): Evidence['staleness'] {
  const ms = stalenessMs(snapshot, record, primary);
  return ms === undefined ? undefined : { ms, limitMs };
}

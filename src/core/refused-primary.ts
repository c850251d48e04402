// Refused primaries: members that answer as the primary below the highest timeline ever seen, or with another system
// identifier. The refusal ends when the other members agree for a while, or when an operator accepts the member.
// Silence never ends it.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { SelfReport } from './self-report.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { shown } from '../model/printable.ts';
import { isDead, newRecord, type Acceptance, type MemberRecord, type RefusalKind, type Snapshot } from './snapshot.ts';

/** How long the agreement has to last. Milliseconds. */
export const AGREEMENT_MS = 30_000;

export interface RefusedPrimary {
  readonly member: MemberName;
  readonly kind: RefusalKind;
  /** Its identity and the required one: `timeline 5`, `system identifier 77`. */
  readonly shown: string;
  readonly expected: string;
  /** Since when it has answered as this primary. */
  readonly since: Instant;
  /** One clause for each thing that the agreement lacks: `pg-2 reported timeline 6 and does not answer`. */
  readonly missing: readonly string[];
  /** Since when nothing is missing. Undefined while something is. */
  readonly agreedSince: Instant | undefined;
}

interface PrimaryClaim {
  readonly record: MemberRecord;
  readonly report: SelfReport;
  readonly kind: RefusalKind;
}

interface Agreement {
  readonly missing: readonly string[];
  readonly since: Instant;
}

/** Empty while a primary is believed: then there is no outage to end. */
export function refusedPrimaries(probe: ProbePolicy, snapshot: Snapshot, now: Instant): readonly RefusedPrimary[] {
  const primaries = [...snapshot.members.values()].filter((record) => isPrimaryNow(record, probe, now));
  const claims = primaries.flatMap((record) => claimOf(snapshot, record) ?? []);
  if (claims.length < primaries.length) return [];
  return claims.map((claim) => refusal(probe, snapshot, claim, now));
}

/** Accepts the refused primary that the members have agreed on for long enough. */
export function withAgreement(probe: ProbePolicy, snapshot: Snapshot, now: Instant): Snapshot {
  const agreed = refusedPrimaries(probe, snapshot, now).find(
    ({ agreedSince }) => agreedSince !== undefined && now >= agreedSince + AGREEMENT_MS,
  );
  return agreed === undefined ? snapshot : withAccepted(snapshot, agreed, 'agreement', now);
}

/** Forgets the reason for the refusal. The next answers are judged without it. */
export function withAccepted(
  snapshot: Snapshot,
  { member, kind, shown, expected }: RefusedPrimary,
  by: Acceptance['by'],
  at: Instant,
): Snapshot {
  const accepted: Acceptance = { at, member, kind, by, detail: `${shown} instead of ${expected}` };
  const report = snapshot.members.get(member)?.selfReport;
  if (kind === 'timeline') {
    return { ...snapshot, accepted, highestTimeline: report?.timeline, highestTimelineBy: [member] };
  }
  // Positions and answers belong to another cluster's history and cannot be compared with new ones.
  const members = new Map([...snapshot.members].map(([name, record]) => [name, withoutEvidence(record)]));
  const systemIdentifier = report?.systemIdentifier ?? snapshot.systemIdentifier;
  return { ...snapshot, accepted, members, systemIdentifier, highestTimeline: undefined, highestTimelineBy: [] };
}

function withoutEvidence({ member, selfReport, probedAt, answeredAt, failure }: MemberRecord): MemberRecord {
  return { ...newRecord(member), selfReport, probedAt, answeredAt, failure };
}

/** By its own newest answer, not by the server that is at its address now. */
function isPrimaryNow(record: MemberRecord, probe: ProbePolicy, now: Instant): boolean {
  const { selfReport: report, mismatch } = record;
  if (report === undefined || isDead(record) || (mismatch !== undefined && mismatch.at !== report.at)) return false;
  return report.isPrimary && isHeard(report, probe, now);
}

function claimOf(snapshot: Snapshot, record: MemberRecord): PrimaryClaim | undefined {
  const { selfReport: report, mismatch } = record;
  const { highestTimeline: highest } = snapshot;
  if (report === undefined) return undefined;
  if (mismatch !== undefined) return { record, report, kind: 'cluster_identity' };
  const isBelow = highest !== undefined && report.timeline !== undefined && report.timeline < highest;
  return isBelow ? { record, report, kind: 'timeline' } : undefined;
}

function refusal(probe: ProbePolicy, snapshot: Snapshot, claim: PrimaryClaim, now: Instant): RefusedPrimary {
  const { record, report, kind } = claim;
  const { missing, since } = agreementOn(probe, snapshot, claim, now);
  return {
    member: record.member.name,
    kind,
    shown: textOf(kind, report),
    expected: textOf(kind, { timeline: snapshot.highestTimeline, systemIdentifier: snapshot.systemIdentifier }),
    since: report.since,
    missing,
    agreedSince: missing.length === 0 ? since : undefined,
  };
}

function textOf(kind: RefusalKind, { timeline, systemIdentifier }: Partial<SelfReport>): string {
  if (kind === 'timeline') return `timeline ${timeline ?? 'unknown'}`;
  return systemIdentifier === undefined ? 'no identity' : `system identifier ${shown(systemIdentifier)}`;
}

function agreementOn(probe: ProbePolicy, snapshot: Snapshot, claim: PrimaryClaim, now: Instant): Agreement {
  const { record, report, kind } = claim;
  const leader = record.member.name;
  const parts: Agreement[] = [ofDocuments(probe, snapshot, leader, now), { missing: [], since: report.since }];
  if (kind === 'cluster_identity' && report.systemIdentifier === undefined) {
    parts.push({ missing: [`${leader} does not report its identity`], since: now });
  }
  const witnesses = witnessesOf(snapshot);
  if (witnesses.length === 0) parts.push({ missing: ['no known member reported the old identity'], since: now });
  for (const name of new Set([...witnesses, ...snapshot.members.keys()])) {
    if (name === leader) continue;
    parts.push(ofMember(probe, snapshot, claim, { name, isWitness: witnesses.includes(name) }, now));
  }
  return {
    missing: parts.flatMap(({ missing }) => missing),
    since: Math.max(...parts.map(({ since }) => since)),
  };
}

/** The members that showed the higher timeline or the old identifier. */
function witnessesOf({ highestTimelineBy, systemIdentifier, members }: Snapshot): readonly MemberName[] {
  if (highestTimelineBy.length > 0) return highestTimelineBy;
  return [...members.values()]
    .filter(({ status }) => status?.systemIdentifier !== undefined && status.systemIdentifier === systemIdentifier)
    .map(({ member }) => member.name);
}

function ofDocuments(probe: ProbePolicy, snapshot: Snapshot, leader: MemberName, now: Instant): Agreement {
  const named = snapshot.namedLeader;
  const isNamed = named?.leader === leader && now < named.at + probe.silenceGraceMs;
  return isNamed
    ? { missing: [], since: named.since }
    : { missing: [`no other member's /cluster names ${leader} as the leader`], since: now };
}

function ofMember(
  probe: ProbePolicy,
  snapshot: Snapshot,
  claim: PrimaryClaim,
  { name, isWitness }: { readonly name: MemberName; readonly isWitness: boolean },
  now: Instant,
): Agreement {
  const { kind } = claim;
  const report = snapshot.members.get(name)?.selfReport;
  const isHeardNow = report !== undefined && isHeard(report, probe, now);
  const isAgreed = report !== undefined && agrees(snapshot, claim, report);
  if (isAgreed && (isHeardNow || !isWitness)) return { missing: [], since: report.since };
  if (isWitness) {
    const shown = textOf(kind, { timeline: snapshot.highestTimeline, systemIdentifier: snapshot.systemIdentifier });
    const says = isHeardNow ? reportText(kind, report) : 'does not answer';
    return { missing: [`${name} reported ${shown} and ${says}`], since: now };
  }
  // The report of a member that fell silent counts for as long as an agreement has to last.
  const isRecent = report !== undefined && now < report.at + AGREEMENT_MS;
  return isRecent
    ? { missing: [`${name} ${reportText(kind, report)}`], since: now }
    : { missing: [], since: -Infinity };
}

function agrees(
  { systemIdentifier: pinned }: Snapshot,
  { kind, report: wanted }: PrimaryClaim,
  report: SelfReport,
): boolean {
  if (report.isPrimary) return false;
  if (kind === 'cluster_identity') return report.systemIdentifier === wanted.systemIdentifier;
  const isOurs = report.systemIdentifier === undefined || report.systemIdentifier === pinned;
  return isOurs && report.timeline === wanted.timeline;
}

function reportText(kind: RefusalKind, report: SelfReport): string {
  return `reports ${textOf(kind, report)}${report.isPrimary ? ' as a primary' : ''}`;
}

function isHeard(report: SelfReport, probe: ProbePolicy, now: Instant): boolean {
  return now < report.at + probe.readMaxAgeMs;
}

// A primary that answers as one and is refused: it is below the highest timeline ever seen, or shows another system
// identifier. Says what would end that. The others' agreement does after a while, an operator does at once; silence
// never does.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { OwnWord } from './self-report.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { shown } from '../model/printable.ts';
import { isDead, newRecord } from './snapshot.ts';
import type { Acceptance, MemberRecord, RefusalKind, Snapshot } from './snapshot.ts';

/** The agreement has to last so long. Milliseconds. */
export const AGREEMENT_MS = 30_000;

export interface RefusedPrimary {
  readonly member: MemberName;
  readonly kind: RefusalKind;
  /** What it shows and what is asked of it: `timeline 5`, `system identifier 77`. */
  readonly shown: string;
  readonly expected: string;
  /** It has answered as this primary since then. */
  readonly since: Instant;
  /** What the agreement still lacks, one clause each: `pg-2 showed timeline 6 and does not answer`. */
  readonly missing: readonly string[];
  /** Since when nothing is missing. */
  readonly agreedSince: Instant | undefined;
}

interface Claim {
  readonly record: MemberRecord;
  readonly word: OwnWord;
  readonly kind: RefusalKind;
}

interface Agreement {
  readonly missing: readonly string[];
  readonly since: Instant;
}

/** None while a primary is believed: then there is no outage to end. */
export function refusedPrimaries(probe: ProbePolicy, snapshot: Snapshot, now: Instant): readonly RefusedPrimary[] {
  const primaries = [...snapshot.members.values()].filter((record) => isPrimaryNow(record, probe, now));
  const claims = primaries.flatMap((record) => claimOf(snapshot, record) ?? []);
  if (claims.length < primaries.length) return [];
  return claims.map((claim) => refusal(probe, snapshot, claim, now));
}

/** The same snapshot with whoever was agreed on for long enough. */
export function withAgreement(probe: ProbePolicy, snapshot: Snapshot, now: Instant): Snapshot {
  const agreed = refusedPrimaries(probe, snapshot, now).find(
    ({ agreedSince }) => agreedSince !== undefined && now >= agreedSince + AGREEMENT_MS,
  );
  return agreed === undefined ? snapshot : withAccepted(snapshot, agreed, 'agreement', now);
}

/** What the refusal rested on is forgotten; the next answers are judged without it. */
export function withAccepted(
  snapshot: Snapshot,
  { member, kind, shown, expected }: RefusedPrimary,
  by: Acceptance['by'],
  at: Instant,
): Snapshot {
  const accepted: Acceptance = { at, member, kind, by, detail: `${shown} instead of ${expected}` };
  const word = snapshot.members.get(member)?.word;
  if (kind === 'timeline') {
    return { ...snapshot, accepted, highestTimeline: word?.timeline, highestTimelineBy: [member] };
  }
  // Positions and answers are of another cluster's history: none of them may be compared with the new ones.
  const members = new Map([...snapshot.members].map(([name, record]) => [name, withoutEvidence(record)]));
  const systemIdentifier = word?.systemIdentifier ?? snapshot.systemIdentifier;
  return { ...snapshot, accepted, members, systemIdentifier, highestTimeline: undefined, highestTimelineBy: [] };
}

function withoutEvidence({ member, word, probedAt, answeredAt, failure }: MemberRecord): MemberRecord {
  return { ...newRecord(member), word, probedAt, answeredAt, failure };
}

/** By its own newest answer, not by what stands at its address now. */
function isPrimaryNow(record: MemberRecord, probe: ProbePolicy, now: Instant): boolean {
  const { word, mismatch } = record;
  if (word === undefined || isDead(record) || (mismatch !== undefined && mismatch.at !== word.at)) return false;
  return word.isPrimary && isHeard(word, probe, now);
}

function claimOf(snapshot: Snapshot, record: MemberRecord): Claim | undefined {
  const { word, mismatch } = record;
  const { highestTimeline: highest } = snapshot;
  if (word === undefined) return undefined;
  if (mismatch !== undefined) return { record, word, kind: 'cluster-identity' };
  const isBelow = highest !== undefined && word.timeline !== undefined && word.timeline < highest;
  return isBelow ? { record, word, kind: 'timeline' } : undefined;
}

function refusal(probe: ProbePolicy, snapshot: Snapshot, claim: Claim, now: Instant): RefusedPrimary {
  const { record, word, kind } = claim;
  const { missing, since } = agreementOn(probe, snapshot, claim, now);
  return {
    member: record.member.name,
    kind,
    shown: textOf(kind, word),
    expected: textOf(kind, { timeline: snapshot.highestTimeline, systemIdentifier: snapshot.systemIdentifier }),
    since: word.since,
    missing,
    agreedSince: missing.length === 0 ? since : undefined,
  };
}

function textOf(kind: RefusalKind, { timeline, systemIdentifier }: Partial<OwnWord>): string {
  if (kind === 'timeline') return `timeline ${timeline ?? 'unknown'}`;
  return systemIdentifier === undefined ? 'no identity' : `system identifier ${shown(systemIdentifier)}`;
}

function agreementOn(probe: ProbePolicy, snapshot: Snapshot, claim: Claim, now: Instant): Agreement {
  const { record, word, kind } = claim;
  const leader = record.member.name;
  const parts: Agreement[] = [ofDocuments(probe, snapshot, leader, now), { missing: [], since: word.since }];
  if (kind === 'cluster-identity' && word.systemIdentifier === undefined) {
    parts.push({ missing: [`${leader} does not say who it is`], since: now });
  }
  const witnesses = witnessesOf(snapshot, kind);
  if (witnesses.length === 0) parts.push({ missing: ['no member is known that showed the old identity'], since: now });
  for (const name of new Set([...witnesses, ...snapshot.members.keys()])) {
    if (name === leader) continue;
    parts.push(ofMember(probe, snapshot, claim, { name, isWitness: witnesses.includes(name) }, now));
  }
  return {
    missing: parts.flatMap(({ missing }) => missing),
    since: Math.max(...parts.map(({ since }) => since)),
  };
}

/** The members that showed what the refusal rests on. */
function witnessesOf(snapshot: Snapshot, kind: RefusalKind): readonly MemberName[] {
  const { highestTimelineBy, systemIdentifier, members } = snapshot;
  if (kind === 'timeline' || highestTimelineBy.length > 0) return highestTimelineBy;
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
  claim: Claim,
  { name, isWitness }: { readonly name: MemberName; readonly isWitness: boolean },
  now: Instant,
): Agreement {
  const { kind } = claim;
  const word = snapshot.members.get(name)?.word;
  const isHeardNow = word !== undefined && isHeard(word, probe, now);
  const isAgreed = word !== undefined && agrees(snapshot, claim, word);
  if (isAgreed && (isHeardNow || !isWitness)) return { missing: [], since: word.since };
  const says = word === undefined ? 'says nothing' : `says ${wordText(kind, word)}`;
  if (isWitness) {
    const shown = textOf(kind, { timeline: snapshot.highestTimeline, systemIdentifier: snapshot.systemIdentifier });
    return { missing: [`${name} showed ${shown} and ${isHeardNow ? says : 'does not answer'}`], since: now };
  }
  // What a member said before it fell silent counts as said for as long as the agreement has to last.
  const isRecent = word !== undefined && now < word.at + AGREEMENT_MS;
  return isRecent ? { missing: [`${name} ${says}`], since: now } : { missing: [], since: -Infinity };
}

function agrees({ systemIdentifier: pinned }: Snapshot, { kind, word: wanted }: Claim, word: OwnWord): boolean {
  if (word.isPrimary) return false;
  if (kind === 'cluster-identity') return word.systemIdentifier === wanted.systemIdentifier;
  const isOurs = pinned === undefined || word.systemIdentifier === undefined || word.systemIdentifier === pinned;
  return isOurs && word.timeline === wanted.timeline;
}

function wordText(kind: RefusalKind, word: OwnWord): string {
  return `${textOf(kind, word)}${word.isPrimary ? ', as a primary' : ''}`;
}

function isHeard(word: OwnWord, probe: ProbePolicy, now: Instant): boolean {
  return now < word.at + probe.readMaxAgeMs;
}

// Our picture of the cluster: per member what it last said, when, and since when it has been silent. Immutable;
// observe.ts makes the next one. Every instant is the start of the contact that taught us.
import type { Instant } from '../model/instant.ts';
import type { Member, MemberName, MemberRefusal } from '../model/member.ts';
import type { ProbeOutcome, ScheduledSwitchover } from '../model/observation.ts';
import type { MemberStatus } from '../model/member-status.ts';
import type { OwnWord } from './self-report.ts';
import type { Unasked } from './unasked.ts';
import type { Verdict } from './verdict.ts';

/** What one member's answers to one check amount to. */
export interface CheckRecord {
  /** The newest definite answer. */
  readonly verdict: Verdict;
  readonly at: Instant;
  /** The question that was answered, which may be another check whose body rules this one out. Absent: both ports refused. */
  readonly answer: { readonly to: string; readonly status: 200 | 503 } | undefined;
  /** The newest positive answer, the first of its run (fresh throughout, on one timeline), and the timeline it came with. */
  readonly positiveAt: Instant | undefined;
  readonly positiveSince: Instant | undefined;
  readonly positiveTimeline: number | undefined;
  /** Consecutive answers on the newest one's side, for rise and fall. */
  readonly streak: number;
  /** In or out after rise and fall. */
  readonly up: boolean;
}

/** A WAL position a member reported: a primary's own, or what a replica has replayed. Bytes. */
export interface Position {
  readonly at: Instant;
  readonly kind: 'location' | 'replayed';
  readonly bytes: number;
  /** Of a primary, when it said so. */
  readonly timeline?: number | undefined;
}

export interface MemberRecord {
  readonly member: Member;
  readonly checks: ReadonlyMap<string, CheckRecord>;
  /** The newest body. */
  readonly status: MemberStatus | undefined;
  readonly answeredAt: Instant | undefined;
  /** Newest first, at most POSITIONS_KEPT. */
  readonly positions: readonly Position[];
  readonly probedAt: Instant | undefined;
  /** Present when probes since the newest answer could not be sent. */
  readonly unasked?: Unasked | undefined;
  /** Present while the newest probe brought no answer; `since` is the first of that run. */
  readonly failure: Failure | undefined;
  /** Present while the newest answer belonged to another cluster or another member. */
  readonly mismatch: { readonly at: Instant; readonly detail: string } | undefined;
  /** `takenBack`: whoever gave it has seen since that nobody holds the leader lock. */
  readonly vouch: { readonly at: Instant; readonly by: MemberName; readonly takenBack: boolean } | undefined;
  /**
   * Present since a session for writes read in_hot_standby from it at `at`. `isStale`: its API, asked after that,
   * proves that it is the primary all the same. An answer other than yes, or another timeline, ends it.
   */
  readonly standbyWord: { readonly at: Instant; readonly isStale: boolean } | undefined;
  /**
   * By its newest answer under its own name and scope. Kept through silence, and through answers that are not believed.
   */
  readonly word: OwnWord | undefined;
  /** An answer of this member has carried its identity: one that carries none is no evidence any more. */
  readonly hasShownIdentity: boolean;
}

export interface Failure {
  readonly since: Instant;
  readonly at: Instant;
  readonly outcome: ProbeOutcome;
  /** Newest probes in a row in which the API and the PostgreSQL port were silent. */
  readonly silentProbes: number;
}

/** Enough to judge lag over the last few answers of two members that are probed independently. */
export const POSITIONS_KEPT = 8;

export interface Snapshot {
  readonly members: ReadonlyMap<MemberName, MemberRecord>;
  /** Pinned from the configuration or from the first answers; an answer that differs is another cluster's. */
  readonly scope: string | undefined;
  readonly systemIdentifier: string | undefined;
  /** The highest timeline on which a member was positive for a primary check: a primary below it is refused. */
  readonly highestTimeline: number | undefined;
  /** The members that were, sorted. Only they can take it back by themselves. */
  readonly highestTimelineBy: readonly MemberName[];
  /** The leader that other members' documents name. */
  readonly namedLeader: NamedLeader | undefined;
  /** The newest primary that was refused and is accepted again. */
  readonly accepted: Acceptance | undefined;
  /** True from the first complete round on: every member first known was asked every check or failed to answer. */
  readonly complete: boolean;
  /** Members that the operator has drained, and since when; by name, known now or not. */
  readonly drained: ReadonlyMap<MemberName, Instant>;
  readonly switchover: ScheduledSwitchover | undefined;
  /** Of the newest document: what is not used of it. */
  readonly refused: readonly MemberRefusal[];
}

export interface NamedLeader {
  readonly leader: MemberName;
  /** The first and the newest document of a run that names the same member without a gap. */
  readonly since: Instant;
  readonly at: Instant;
}

/** What a primary is refused for. */
export const REFUSAL_KINDS = ['timeline', 'cluster-identity'] as const;
export type RefusalKind = (typeof REFUSAL_KINDS)[number];

export interface Acceptance {
  readonly at: Instant;
  readonly member: MemberName;
  readonly kind: RefusalKind;
  /** `timeline 5 instead of 6` */
  readonly detail: string;
  /** `agreement`: every member that matters said so for long enough. */
  readonly by: 'agreement' | 'operator';
}

export function emptySnapshot(scope: string | undefined): Snapshot {
  return {
    members: new Map(),
    scope,
    systemIdentifier: undefined,
    highestTimeline: undefined,
    highestTimelineBy: [],
    namedLeader: undefined,
    accepted: undefined,
    complete: false,
    drained: new Map(),
    switchover: undefined,
    refused: [],
  };
}

export function newRecord(member: Member): MemberRecord {
  return {
    member,
    checks: new Map(),
    status: undefined,
    answeredAt: undefined,
    positions: [],
    probedAt: undefined,
    failure: undefined,
    mismatch: undefined,
    vouch: undefined,
    standbyWord: undefined,
    word: undefined,
    hasShownIdentity: false,
  };
}

/** Without the answers to checks that nobody asks any more: one that is asked again later begins anew. */
export function withChecks(snapshot: Snapshot, asked: ReadonlySet<string>): Snapshot {
  const members = new Map<MemberName, MemberRecord>();
  for (const [name, record] of snapshot.members) {
    members.set(name, { ...record, checks: new Map([...record.checks].filter(([check]) => asked.has(check))) });
  }
  return { ...snapshot, members };
}

/** Which members a new configuration leads to, by the lists that were read with it. */
export interface NewList {
  readonly named: ReadonlySet<MemberName>;
  /** Only documents name a discovered member, and one document may omit it: until the grace is over it stays. */
  readonly isGraceOver: boolean;
}

/** Without the members that the operator's new configuration leads no more to. */
export function withMembers(snapshot: Snapshot, { named, isGraceOver }: NewList): Snapshot {
  const isKept = ({ member }: MemberRecord): boolean =>
    named.has(member.name) || (!isGraceOver && member.origin === 'discovered');
  return { ...snapshot, members: new Map([...snapshot.members].filter(([, record]) => isKept(record))) };
}

/** A wish of the operator, not evidence. Draining again begins nothing anew. */
export function withDrained(snapshot: Snapshot, member: MemberName, since: Instant): Snapshot {
  if (snapshot.drained.has(member)) return snapshot;
  return { ...snapshot, drained: new Map([...snapshot.drained, [member, since]]) };
}

export function withResumed(snapshot: Snapshot, member: MemberName): Snapshot {
  return { ...snapshot, drained: new Map([...snapshot.drained].filter(([name]) => name !== member)) };
}

/** It answered its newest probe, as the member that it should be. */
export function isAnswering(record: MemberRecord | undefined): boolean {
  return record?.answeredAt !== undefined && record.failure === undefined && record.mismatch === undefined;
}

/** Both ports refuse: the only silence that is evidence. */
export function isDead(record: MemberRecord): boolean {
  const outcome = record.failure?.outcome;
  return outcome?.kind === 'refused' && outcome.postgres === 'refused';
}

/** The newest probe brought no answer. A fault of ours says nothing about the member. */
export function missedProbe({ failure }: MemberRecord): boolean {
  return failure !== undefined && !(failure.outcome.kind === 'failed' && failure.outcome.cause === 'local');
}

// The current knowledge of the cluster: for each member its last answers, their instants, and how long it has been
// silent. Immutable: observe.ts makes the next snapshot. Every instant is the start of the contact.
import type { OperationCause } from '../model/close-reason.ts';
import type { Instant } from '../model/instant.ts';
import type { Member, MemberName, MemberRefusal } from '../model/member.ts';
import type { ProbeOutcome, ScheduledSwitchover } from '../model/observation.ts';
import type { TimelineEnds } from './coverage.ts';
import type { MemberStatus } from '../model/member-status.ts';
import type { SelfReport } from './self-report.ts';
import type { UnsentTime } from './unsent-probes.ts';
import type { Verdict } from './verdict.ts';

/** The state of one check of one member. */
export interface CheckRecord {
  /** The newest definite answer. */
  readonly verdict: Verdict;
  readonly at: Instant;
  /**
   * The check that was asked, which may be another one whose body rules this one out. Undefined: both ports refused.
   */
  readonly answer: { readonly to: string; readonly status: 200 | 503 } | undefined;
  /** The newest yes, the first of its run (fresh throughout, on one timeline), and its timeline. */
  readonly positiveAt: Instant | undefined;
  readonly positiveSince: Instant | undefined;
  readonly positiveTimeline: number | undefined;
  /** Consecutive answers equal to the newest one, for rise and fall. */
  readonly streak: number;
  /** The result of rise and fall. */
  readonly up: boolean;
}

/** A WAL position that a member reported: a primary's own, or the one that a replica has replayed. Bytes. */
export interface Position {
  readonly at: Instant;
  readonly kind: 'location' | 'replayed';
  readonly bytes: number;
  /** For a primary that reports it. */
  readonly timeline?: number | undefined;
  /** For a running primary that reports it: when its PostgreSQL started. */
  readonly startedAt?: string | undefined;
}

/** The primary had written so much at that instant. */
export interface WalMark {
  readonly at: Instant;
  readonly bytes: number;
}

/** The positions of the primary on the highest timeline by age: newest first, each above the next. */
export interface WalTrail {
  readonly member: MemberName;
  readonly timeline: number;
  readonly marks: readonly WalMark[];
}

/** The oldest mark of the primary on that timeline above the position of a replica. */
export interface MissingWal extends WalMark {
  readonly timeline: number;
}

export interface StandbyReport {
  readonly at: Instant;
  readonly since: Instant;
  readonly by: 'standby' | 'pooler';
  readonly isStale: boolean;
}

export interface MemberRecord {
  readonly member: Member;
  readonly checks: ReadonlyMap<string, CheckRecord>;
  /** The newest body. */
  readonly status: MemberStatus | undefined;
  /** The first answer of those that have the same `storeSeenAt` as the newest body. */
  readonly storeSeenSince: Instant | undefined;
  readonly answeredAt: Instant | undefined;
  /** Newest first, at most POSITIONS_KEPT of them. */
  readonly positions: readonly Position[];
  /** The primary's first answer with WAL that this replica has not replayed. Undefined: it has replayed some since. */
  readonly unreplayedSince: Instant | undefined;
  /** Undefined: it has replayed every position of the primary that we know, or is the primary. */
  readonly missing: MissingWal | undefined;
  readonly probedAt: Instant | undefined;
  /** Present when probes since the newest answer could not be sent. */
  readonly unsent?: UnsentTime | undefined;
  /** Defined while the newest probe has no answer. */
  readonly failure: ProbeFailure | undefined;
  /** The newest answer after which its host no longer counts as vanished. */
  readonly returnedAt?: Instant | undefined;
  /** Defined while the newest answer belongs to another cluster or another member. */
  readonly mismatch: IdentityMismatch | undefined;
  /** `takenBack`: the member that vouched has reported since that no member holds the leader lock. */
  readonly vouch: { readonly at: Instant; readonly by: MemberName; readonly takenBack: boolean } | undefined;
  /**
   * Defined since a write session read in_hot_standby from it; `at`: the newest one. `isStale`: it comes from a pooler,
   * and its API, asked after that, proves that it is the primary. An answer other than yes, another timeline, or a
   * session at a primary ends this.
   */
  readonly standbyReport: StandbyReport | undefined;
  /**
   * From its newest answer with its own name and scope. It stays through silence and through answers that are refused.
   */
  readonly selfReport: SelfReport | undefined;
  /** The member has shown its identity once: from then on an answer without one is no evidence. */
  readonly hasShownIdentity: boolean;
}

/** `isOtherSystem`: the system identifier differs, whatever else does. Only that says which server is there. */
export interface IdentityMismatch {
  readonly at: Instant;
  readonly detail: string;
  readonly isOtherSystem: boolean;
}

/** `since`: the first probe without an answer. `at`: the newest. */
export interface ProbeFailure {
  readonly since: Instant;
  readonly at: Instant;
  readonly outcome: ProbeOutcome;
  /**
   * The newest probes in a row in which the API and the PostgreSQL port were silent; probes that tell nothing of the
   * port are left out. Once there are enough of them, the number stays.
   */
  readonly silentProbes: number;
  /** When the probe began with which there were enough of them. */
  readonly vanishedAt?: Instant | undefined;
}

/** Enough to compare the last few answers of two members that are probed independently. */
export const POSITIONS_KEPT = 8;

export interface Snapshot {
  readonly members: ReadonlyMap<MemberName, MemberRecord>;
  /** Pinned by the configuration or the first answers. An answer that differs comes from another cluster. */
  readonly scope: string | undefined;
  readonly systemIdentifier: string | undefined;
  /** The highest timeline on which a member was positive for a primary check. A primary below it is refused. */
  readonly highestTimeline: number | undefined;
  /** The members that were positive on it, sorted. Only they can lower it without an operator. */
  readonly highestTimelineBy: readonly MemberName[];
  /** For `observe` alone, so workers do not get it. */
  readonly trail: WalTrail | undefined;
  /** Read only where sessions may move after a loss of their primary. */
  readonly timelineEnds: TimelineEnds | undefined;
  /** The leader in the documents of other members. */
  readonly namedLeader: NamedLeader | undefined;
  /** The last refused primary that was accepted. */
  readonly accepted: Acceptance | undefined;
  /** True once every member that was known first has answered every check or failed to answer. */
  readonly complete: boolean;
  /** Members that the operator drained, with the instant. Also names that are not known now. */
  readonly drained: ReadonlyMap<MemberName, Instant>;
  readonly switchover: ScheduledSwitchover | undefined;
  /** The switchover, or the restart that moves sessions, that an operator runs here. */
  readonly handover: Handover | undefined;
  /** Members of the newest document that are not used. */
  readonly refused: readonly MemberRefusal[];
}

/**
 * A primary that is about to stop as the primary, or a member that is about to restart in place. Without effect when it
 * has lasted for `mostMs`.
 */
export interface Handover {
  readonly operation: OperationCause;
  readonly member: MemberName;
  /** `hold`: it takes no new sessions. `drain`: its sessions end as well, each between two transactions. */
  readonly phase: 'hold' | 'drain';
  readonly since: Instant;
  /** No client waits longer because of it. Milliseconds. */
  readonly mostMs: number;
  /** How long running transactions may take from the beginning of the drain. Milliseconds. */
  readonly transactionMs: number;
}

export interface NamedLeader {
  readonly leader: MemberName;
  /** The first and the newest document of a run that names the same leader without a gap. */
  readonly since: Instant;
  readonly at: Instant;
}

/** Why a primary is refused. */
export const REFUSAL_KINDS = ['timeline', 'cluster_identity'] as const;
export type RefusalKind = (typeof REFUSAL_KINDS)[number];

export interface Acceptance {
  readonly at: Instant;
  readonly member: MemberName;
  readonly kind: RefusalKind;
  /** `timeline 5 instead of 6` */
  readonly detail: string;
  /** `agreement`: the members agreed for long enough. */
  readonly by: 'agreement' | 'operator';
}

export function emptySnapshot(scope: string | undefined): Snapshot {
  return {
    members: new Map(),
    scope,
    systemIdentifier: undefined,
    highestTimeline: undefined,
    highestTimelineBy: [],
    trail: undefined,
    timelineEnds: undefined,
    namedLeader: undefined,
    accepted: undefined,
    complete: false,
    drained: new Map(),
    switchover: undefined,
    handover: undefined,
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
    unreplayedSince: undefined,
    missing: undefined,
    probedAt: undefined,
    failure: undefined,
    mismatch: undefined,
    vouch: undefined,
    standbyReport: undefined,
    selfReport: undefined,
    storeSeenSince: undefined,
    hasShownIdentity: false,
  };
}

/** Drops the answers to checks that no pool has any more. A check that comes back begins anew. */
export function withChecks(snapshot: Snapshot, asked: ReadonlySet<string>): Snapshot {
  const members = new Map<MemberName, MemberRecord>();
  for (const [name, record] of snapshot.members) {
    members.set(name, { ...record, checks: new Map([...record.checks].filter(([check]) => asked.has(check))) });
  }
  return { ...snapshot, members };
}

/** The members that a new configuration knows, by the lists read with it. */
export interface NewList {
  readonly named: ReadonlySet<MemberName>;
  /** One document may omit a discovered member. Until the grace is over such a member stays. */
  readonly isGraceOver: boolean;
}

/** Drops the members that the new configuration does not know. */
export function withMembers(snapshot: Snapshot, { named, isGraceOver }: NewList): Snapshot {
  const isKept = ({ member }: MemberRecord): boolean =>
    named.has(member.name) || (!isGraceOver && member.origin === 'discovered');
  return { ...snapshot, members: new Map([...snapshot.members].filter(([, record]) => isKept(record))) };
}

/** Draining a drained member again keeps the first instant. */
export function withDrained(snapshot: Snapshot, member: MemberName, since: Instant): Snapshot {
  if (snapshot.drained.has(member)) return snapshot;
  return { ...snapshot, drained: new Map([...snapshot.drained, [member, since]]) };
}

export function withResumed(snapshot: Snapshot, member: MemberName): Snapshot {
  return { ...snapshot, drained: new Map([...snapshot.drained].filter(([name]) => name !== member)) };
}

/** It answered its newest probe, with the right identity. */
export function isAnswering(record: MemberRecord | undefined): boolean {
  return record?.answeredAt !== undefined && record.failure === undefined && record.mismatch === undefined;
}

/** Both ports refuse: the only missing answer that is evidence. */
export function isDead(record: MemberRecord): boolean {
  return record.failure !== undefined && refusesBoth(record.failure.outcome);
}

export function refusesBoth(outcome: ProbeOutcome): boolean {
  return outcome.kind === 'refused' && outcome.postgres === 'refused';
}

/** The newest probe has no answer, for a reason that is not a local fault. */
export function missedProbe({ failure }: MemberRecord): boolean {
  return failure !== undefined && !(failure.outcome.kind === 'failed' && failure.outcome.cause === 'local');
}

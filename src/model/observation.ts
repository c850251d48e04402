// The result of one contact with the cluster, failures included. Instants are the START of the contact: an answer is as
// old as its probe.
import type { Check } from './check.ts';
import type { Instant } from './instant.ts';
import type { Member, MemberName, MemberRefusal } from './member.ts';
import type { MemberStatus } from './member-status.ts';

/** Why a probe gave no evidence. `local`: a fault of this machine (EMFILE, DNS, a stall), never the member's (G12). */
export type FailureCause =
  | 'timeout'
  | 'reset'
  | 'unreachable'
  | 'malformed'
  | 'oversized'
  | 'redirect'
  | 'unexpected_status'
  | 'tls'
  | 'local';

/** The result of a TCP connect to the member's PostgreSQL port, made only when its API does not answer. */
export type PortState = 'accepts' | 'refused' | 'silent' | 'unknown';

/** Probes one check of one member. Settles within the deadline (milliseconds) and never rejects. */
export type Probe = (member: Member, check: Check, deadlineMs: number) => Promise<ProbeOutcome>;

export type ProbeOutcome =
  /** 200 or 503 with a complete body. `body` is undefined only for endpoints that never send one. */
  | { readonly kind: 'answered'; readonly status: 200 | 503; readonly body: MemberStatus | undefined }
  /** The API port refused the connection. */
  | { readonly kind: 'refused'; readonly postgres: PortState }
  | {
      readonly kind: 'failed';
      readonly cause: FailureCause;
      /** One clause for logs and status: `no answer within 800 ms`. */
      readonly detail: string;
      /** This machine ran out of a resource, so the probe was never sent. */
      readonly isUnsent?: boolean;
      readonly postgres: PortState;
    };

export interface ProbeObservation {
  readonly kind: 'probe';
  readonly member: MemberName;
  /** `Check.text`. */
  readonly check: string;
  readonly startedAt: Instant;
  readonly outcome: ProbeOutcome;
}

/** Another member's fresh /cluster document named this member leader and running while its own API was silent. */
export interface VouchObservation {
  readonly kind: 'vouch';
  readonly member: MemberName;
  readonly by: MemberName;
  readonly startedAt: Instant;
}

/** A write session began on the member, and its server reported in_hot_standby. */
export interface LandingObservation {
  readonly kind: 'landing';
  readonly member: MemberName;
  /** `pooler`: the report comes from one, which may repeat an old value. `primary`: it takes writes again. */
  readonly by: 'standby' | 'pooler' | 'primary';
  readonly startedAt: Instant;
}

interface MemberListing {
  /** Configured members first; they are known without any document. Names are unique. */
  readonly members: readonly Member[];
  /** Members that are not used, with the reason. */
  readonly refused: readonly MemberRefusal[];
  /** Start of the read that returned the document; start of the call when no read did. */
  readonly startedAt: Instant;
}

/** The members by a cluster document. */
export interface MemberList extends MemberListing {
  readonly kind: 'found';
  readonly scope?: string | undefined;
  /** The leader of a cluster that takes writes. A standby leader does not count and must not be vouched for. */
  readonly leader?: { readonly name: MemberName; readonly state: string | undefined } | undefined;
  /** The source of the document: a member's name, or a seed's URL while the name is unknown. */
  readonly by: string;
  /** By the clocks of the members, milliseconds since the epoch. */
  readonly scheduledSwitchoverAt?: number | undefined;
  /** The clock of the member that answered, in whole seconds. Milliseconds since the epoch. Absent: not known. */
  readonly date?: number | undefined;
}

/** No document could be read: `members` is the last list, resolved again. */
export interface ListFailure extends MemberListing {
  readonly kind: 'failed';
  readonly why: string;
}

/** Discovery's newest list of members. */
export interface MembersObservation {
  readonly kind: 'members';
  readonly startedAt: Instant;
  readonly members: readonly Member[];
  /** The document's scope, to pin the cluster's identity. */
  readonly scope?: string;
  /** The document's scheduled switchover. Absent: no document was read. */
  readonly switchover?: ScheduledSwitchover | 'none';
  /** Members of the newest document that are not used. Absent: as before. */
  readonly refused?: readonly MemberRefusal[];
}

/** The leader that a /cluster document names, whatever that member itself answers. */
export interface LeaderObservation {
  readonly kind: 'leader';
  readonly startedAt: Instant;
  /** Undefined: the document names no running leader. */
  readonly leader: MemberName | undefined;
  /** The member that gave the document. */
  readonly by: MemberName;
}

export type Observation =
  | ProbeObservation
  | VouchObservation
  | LandingObservation
  | MembersObservation
  | LeaderObservation;

/** From the newest document: when `leader` is going to hand over. */
export interface ScheduledSwitchover {
  readonly at: Instant;
  readonly leader: MemberName;
}

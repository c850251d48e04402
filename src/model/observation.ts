// What one contact with the cluster taught us, with its instant, failures included. Plain data, made at the edges.
// Instants are the START of the contact: an answer is as old as the question.
import type { Instant } from './instant.ts';
import type { Member, MemberName, MemberRefusal } from './member.ts';
import type { MemberStatus } from './member-status.ts';

/** Why a probe gave no evidence. `local`: our own fault (EMFILE, DNS, a stalled event loop), never the member's. */
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

/** What a TCP connect to the member's PostgreSQL port said, asked only when its API did not answer. */
export type PortState = 'accepts' | 'refused' | 'silent' | 'unknown';

export type ProbeOutcome =
  /** 200 or 503, body read whole. `body` is absent only for the endpoints that never send one. */
  | { readonly kind: 'answered'; readonly status: 200 | 503; readonly body: MemberStatus | undefined }
  /** The API port refused the connection. */
  | { readonly kind: 'refused'; readonly postgres: PortState }
  | {
      readonly kind: 'failed';
      readonly cause: FailureCause;
      /** One clause for logs and status: `no answer within 800 ms`. */
      readonly detail: string;
      /** This machine ran out of something: the question was never sent. */
      readonly isUnsent?: boolean;
      readonly postgres: PortState;
    };

export interface ProbeObservation {
  readonly kind: 'probe';
  readonly member: MemberName;
  /** The check's canonical text (`Check.text`). */
  readonly check: string;
  readonly startedAt: Instant;
  readonly outcome: ProbeOutcome;
}

/** Another member's fresh /cluster document named this one leader and running while its own API was silent. */
export interface VouchObservation {
  readonly kind: 'vouch';
  readonly member: MemberName;
  readonly by: MemberName;
  readonly startedAt: Instant;
}

/** A session for writes began on the member, and its server said in_hot_standby. */
export interface LandingObservation {
  readonly kind: 'landing';
  readonly member: MemberName;
  readonly startedAt: Instant;
}

/** The member list as discovery now has it. */
export interface MembersObservation {
  readonly kind: 'members';
  readonly startedAt: Instant;
  readonly members: readonly Member[];
  /** Scope of the document it came from, to pin the cluster's identity. */
  readonly scope?: string;
  /** What the document says is scheduled; absent: no document was read. */
  readonly switchover?: ScheduledSwitchover | 'none';
  /** What is not used of the newest document; absent: as before. */
  readonly refused?: readonly MemberRefusal[];
}

/** Whom a /cluster document names leader, whatever that member itself answers. */
export interface LeaderObservation {
  readonly kind: 'leader';
  readonly startedAt: Instant;
  /** Undefined: the document names nobody that runs. */
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

/** By the newest document: when `leader` is to hand over. */
export interface ScheduledSwitchover {
  readonly at: Instant;
  readonly leader: MemberName;
}

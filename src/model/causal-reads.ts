// Causal reads: a transaction of a read pool sees every commit that was acknowledged before it arrived here. The
// vocabulary that configuration, decision, proxy and positions share. Durations in milliseconds, positions in bytes.
import type { Address, MemberName } from './member.ts';

/** A read sees the acknowledged writes of everybody, or those to its database through this process. */
export const READ_SCOPES = ['cluster', 'proxy'] as const;
export type ReadScope = (typeof READ_SCOPES)[number];

/** `primary`: the session moves to a member that shows all, at last the primary. `stale`: it runs with a notice. */
export const LATE_MODES = ['primary', 'error', 'stale'] as const;
export type LateMode = (typeof LATE_MODES)[number];

export interface CausalReadsPolicy {
  readonly scope: ReadScope;
  /** How long a read waits for its server before it is late. */
  readonly waitMs: number;
  readonly late: LateMode;
}

/** The login that asks the servers for their positions. */
export interface QuestionsPolicy {
  readonly user: string;
  /** Undefined: the server asks for none. */
  readonly passwordFile: string | undefined;
  readonly database: string;
  /** Questions to the primary. */
  readonly perSecond: number;
}

/**
 * The number of a question of this process. Each question has a higher one than all before it, of any server. An event
 * between two questions has the number of the first: a question with a higher number left after it. Servers' clocks and
 * ours take no part.
 */
export type QuestionNumber = number;

/** An answer of a server, on a connection of our own. */
interface ServerWord {
  readonly member: MemberName;
  readonly address: Address;
  readonly question: QuestionNumber;
}

export interface PrimaryWord extends ServerWord {
  readonly timeline: number;
  /** The end of its last record: every commit that it has acknowledged before the question is before this. */
  readonly written: number;
  /** May be in the middle of a record. Standbys replay nothing behind it. */
  readonly flushed: number;
}

export interface ReplicaWord extends ServerWord {
  /** Every record before it is replayed. */
  readonly replayed: number;
}

/** `why` is for people: `role "pointsman_monitor" does not exist`. It holds no secret. */
export interface NoAnswer {
  readonly why: string;
}

/** A server that is asked. */
export interface AskedServer {
  readonly member: MemberName;
  readonly address: Address;
}

/** The questions to servers, and the last answers. No promise rejects. */
export interface Positions {
  /** The number of the newest question. A session notes it when its server is connected; a read, when it arrives. */
  newestQuestion(): QuestionNumber;
  /** Leaves at once, or when the server has answered what it was asked before: never with an older number. */
  askPrimary(server: AskedServer): Promise<PrimaryWord | NoAnswer>;
  askReplica(server: AskedServer): Promise<ReplicaWord | NoAnswer>;
  /** The newest words of a connection that has not ended since. Undefined: there is none. To read them is a use. */
  lastPrimary(server: AskedServer): PrimaryWord | undefined;
  lastReplica(server: AskedServer): ReplicaWord | undefined;
  /** Makes the primary flush what it has written, soon. */
  nudge(server: AskedServer): void;
}

// The live sessions one by one, for an operator: which are asked for, what is known of each, and how one was killed.
import type { ReadScope } from '../model/causal-reads.ts';
import type { NoYet } from '../core/read-index.ts';
import type { BranchIdentity } from '../model/branch.ts';
import type { MoveCause } from '../model/close-reason.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { Movability } from '../model/moves.ts';
import type { PoolName } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';
import type { SessionState } from './session-state.ts';

/** `terminate`: the client's TLS is with Pointsman. `passthrough`: the client's encryption is with its server. */
export type SessionTls = 'none' | 'terminate' | 'passthrough';

/**
 * Where the session is in its protocol, as read along: `starting` before the first ReadyForQuery, `busy` while a
 * request has no complete reply, else the transaction state of the server's last ReadyForQuery.
 */
export type SessionActivity = 'starting' | 'busy' | 'idle' | 'in_transaction' | 'in_failed_transaction';

/** The moves of one session, as far as they are known. */
export interface SessionMoves {
  /** How often it has moved. */
  readonly moved: number;
  /** Its last move. */
  readonly last?: {
    readonly from: MemberName;
    readonly to: MemberName;
    readonly cause: MoveCause;
    readonly gapMs: number;
    /** Its transaction was rolled back for that. */
    readonly hasAborted?: true;
    readonly at: Instant;
  };
  /** Whether it can move. `at`: of the server's answer; absent: known without a question. Absent: not asked yet. */
  readonly found?: { readonly movability: Movability; readonly at?: Instant };
  /** While it is parked or moving. */
  readonly underway?: {
    readonly from: MemberName;
    readonly cause: MoveCause;
    /** It has no server since then, whatever was tried meanwhile. */
    readonly leftAt: Instant;
    /** Its client has sent something meanwhile. */
    readonly isWaiting: boolean;
    /** A parked session waits for this: `a route: …`, `its turn …`. Absent: it is logged in at its next server. */
    readonly waitsFor?: string;
    /** Why the last attempt did not succeed. */
    readonly why?: string;
  };
}

/** A causal read that waits. */
export interface ShownReadWait {
  readonly since: Instant;
  /** `causal_reads.scope` of its pool. */
  readonly scope: ReadScope;
  /** Its server. */
  readonly member: MemberName;
  readonly reason: NoYet;
  /** Undefined: none is proven. */
  readonly primary: MemberName | undefined;
  /** The server must show this position, in bytes, on this timeline. Undefined: the primary has not said it yet. */
  readonly mustShow: { readonly position: number; readonly timeline: number } | undefined;
  /** Bytes that the server has not replayed, as far as is known. */
  readonly behindBytes: number | undefined;
  /** It has waited for `causal_reads.wait`, and ends as soon as its client can be told, or its session moves. */
  readonly isLate: boolean;
  /** A sentence. */
  readonly why: string;
}

export interface SessionEntry {
  readonly id: number;
  readonly pool: PoolName;
  /** Undefined: it has no connection to a member, and is not making one. */
  readonly member: MemberName | undefined;
  /** Absent: its target is no branch, or it is not known yet. */
  readonly branch?: BranchIdentity | undefined;
  /** `10.0.0.5:51234` */
  readonly client: string;
  /** The load balancer that named the client (PROXY protocol). Undefined: none did. */
  readonly via: string | undefined;
  /** The address at which the client was accepted. */
  readonly listener: string;
  /** These three are cut and escaped, to be shown. Undefined: encryption hides it, or the client did not send it. */
  readonly user: string | undefined;
  /** Without the name of a pool. */
  readonly database: string | undefined;
  readonly application: string | undefined;
  readonly state: SessionState;
  /** Undefined: not relayed, or it cannot be read. */
  readonly activity: SessionActivity | undefined;
  /** Undefined: not decided yet. */
  readonly tls: SessionTls | undefined;
  readonly acceptedAt: Instant;
  readonly stateSince: Instant;
  /** From its first wait for a route to the start of its relay. 0: it never waited. Undefined: no longer known. */
  readonly heldMs: number | undefined;
  readonly toBackendBytes: number;
  readonly toClientBytes: number;
  /** Absent: no causal read of it waits. */
  readonly read?: ShownReadWait;
  /** Absent: it never moves, because `moves` does not exist or its stream cannot be read. */
  readonly moves?: SessionMoves;
}

/** Undefined: any. */
export interface SessionFilter {
  readonly id?: number | undefined;
  readonly pool?: PoolName | undefined;
  readonly member?: MemberName | undefined;
  /** An address, or an address with its port. */
  readonly client?: string | undefined;
  readonly state?: SessionState | undefined;
}

/** Each is a column of `pointsman sessions`, `bytes` the sum of two. The largest value comes first. */
export const SESSION_SORTS = ['age', 'since', 'held', 'in', 'out', 'bytes'] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];

export interface SessionQuery extends SessionFilter {
  /** The most sessions that the answer may have. */
  readonly limit: number;
  /** Default: `age`. */
  readonly sort?: SessionSort | undefined;
}

export interface SessionList {
  /** The first that match, in the order of the query. */
  readonly sessions: readonly SessionEntry[];
  /** All that match, the ones left out included. */
  readonly total: number;
  /** The numbers of the workers that did not answer in time: their sessions are missing. */
  readonly silentWorkers: readonly number[];
}

/**
 * The end of a statement that the server may be running. `none`: none ran. `cancel_sent`: a cancel request with
 * the session's key is on its way. `not_cancelled`: the key or the stream is unknown, so the server ends the statement
 * when it notices that its client is gone.
 */
export type StatementEnd = 'none' | 'cancel_sent' | 'not_cancelled';

export type KillResult =
  | {
      readonly kind: 'killed';
      /** As it was before. */
      readonly session: SessionEntry;
      /** An error with the reason is on its way to the client. Else both connections were reset. */
      readonly isClientTold: boolean;
      readonly statement: StatementEnd;
    }
  | { readonly kind: 'unknown' }
  /** It has the request, and did not answer in time: the session may still live. */
  | { readonly kind: 'silent_worker'; readonly worker: number };

/** The part that a filter reads. */
export type SessionFacts = Pick<SessionEntry, 'id' | 'pool' | 'member' | 'client' | 'state' | 'moves'>;

/** A session on its way is found by the member that it has left, and by the one to which it goes. */
export function isWanted(session: SessionFacts, { id, pool, member, client, state }: SessionFilter): boolean {
  return (
    (id === undefined || session.id === id) &&
    (pool === undefined || session.pool === pool) &&
    (state === undefined || session.state === state) &&
    (member === undefined || session.member === member || session.moves?.underway?.from === member) &&
    (client === undefined || isClient(session.client, client))
  );
}

/** `shown` is host:port. IPv4 clients of an IPv6 socket have the prefix `::ffff:`, which is not required. */
export function isClient(shown: string, wanted: string): boolean {
  const plain = plainAddress(shown);
  const given = plainAddress(wanted);
  return plain === given || plain.slice(0, plain.lastIndexOf(':')) === given;
}

function plainAddress(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[[\]]/g, '')
    .replace(/^::ffff:(?=\d+\.)/, '');
}

const VALUES: Readonly<Record<SessionSort, (session: SessionEntry) => number>> = {
  age: ({ acceptedAt }) => -acceptedAt,
  since: ({ stateSince, moves }) => -(moves?.underway?.leftAt ?? stateSince),
  held: ({ heldMs = 0 }) => heldMs,
  in: ({ toBackendBytes }) => toBackendBytes,
  out: ({ toClientBytes }) => toClientBytes,
  bytes: ({ toBackendBytes, toClientBytes }) => toBackendBytes + toClientBytes,
};

/** The first of them in the order of the query; equal ones by age. */
export function firstOf(sessions: readonly SessionEntry[], { sort = 'age', limit }: SessionQuery): SessionEntry[] {
  const value = VALUES[sort];
  return sessions.toSorted((a, b) => value(b) - value(a) || a.acceptedAt - b.acceptedAt || a.id - b.id).slice(0, limit);
}

/** The lists of several processes as one. */
export function mergedLists(lists: readonly SessionList[], query: SessionQuery): SessionList {
  return {
    sessions: firstOf(
      lists.flatMap((list) => list.sessions),
      query,
    ),
    total: sumOf(lists, ({ total }) => total),
    silentWorkers: lists.flatMap((list) => list.silentWorkers),
  };
}

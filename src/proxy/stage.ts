// The stages of a session. It is in exactly one of them, from accept to close:
//
//   Arriving ───────────────> Relayed ──Departure──> Travelling ──Arrival──> Relayed
//   startup, holding,         relaying               parked, moving
//   dialing
//      └──────────────┬──────────┴──────────────────────┘
//                  Farewell ──> Leaving (closing) ──> closed
//
// A stage owns its sockets, its timers and its places in queues. It decides for itself that the session goes on, or
// ends, and gives things back when a state is over. Each arrow is a value. Only `Session.move` writes the state. The
// rest of the program sees a session through its handle.
//
// `farewell` decides and changes nothing: a session that cannot be told is cut from the state it is in. One that can be
// told leaves its stage with the change of its state (`left`).
import type { ProxySocket } from './socket.ts';
import type { CloseReason, MoveCause } from '../model/close-reason.ts';
import type { Instant } from '../model/instant.ts';
import type { Address, MemberName } from '../model/member.ts';
import type { CarriedState, Movability, PinReason } from '../model/moves.ts';
import type { AskedServer } from '../model/causal-reads.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type {
  SessionActivity,
  SessionEntry,
  SessionMoves,
  StatementEnd,
  ShownReadWait,
} from '../reports/session-list.ts';
import type { SessionEvent, SessionState } from '../reports/session-state.ts';
import type { Recognition } from '../wire/startup/startup.ts';
import type { Faulty } from './fault.ts';
import type { Link } from './linked-list.ts';
import type { StartupReader } from './startup/startup-reader.ts';

/** All that a session asks of the stage that it is in. Without a method: the stage has nothing to do or to say. */
export interface Stage {
  /** The client's socket. It is another one after a TLS handshake. */
  client(): ProxySocket;
  backend?(): ProxySocket;
  /**
   * The session has another state: ends what the last one had under way. Behind the last state of the stage it gives
   * back all but the client's socket, which is the next stage's.
   */
  left(to: SessionState): void;
  /** How the client can be told that its session ends. Undefined: it cannot be told. */
  farewell(reason: CloseReason, detail?: string): Farewell | undefined;
  /** The session is closed: closes its sockets synchronously. `isReset`: bytes that wait are dropped. */
  drop(isReset: boolean): void;
  reroute?(mustLeave: boolean): void;
  isIdle?(): boolean;
  settlesInMs?(): number;
  endStatement?(): StatementEnd;
  activity?(): SessionActivity | undefined;
  waitingRead?(): ShownReadWait | undefined;
}

/** From any stage to Leaving. */
export interface Farewell {
  readonly reason: CloseReason;
  readonly detail: string | undefined;
  readonly client: ProxySocket;
  /** The last message. Undefined: the end of the stream says enough. */
  readonly message: Uint8Array | undefined;
  /** Set while the client's startup packet has no answer, because the message depends on it. */
  readonly startup?: UnansweredStartup | undefined;
  /** The server has ended the session, and its client may take its time to read what the server said. */
  readonly isLost?: true;
}

/** The startup of a client that is refused. */
export interface UnansweredStartup {
  /** The packet is at its front, if it is complete. */
  readonly reader: StartupReader;
  readonly packet: Recognition | undefined;
  /** The requests for encryption that were answered already. */
  readonly answered: ReadonlySet<Recognition['kind']>;
}

/** The member that a session counts on, from the start of its connect. */
export interface Assignment {
  readonly member: MemberName;
  readonly address: Address;
  /** The pool used its fallback when the session came. */
  readonly isFallback: boolean;
  /** Every member of the pool lagged when the session came. */
  readonly isLagging: boolean;
}

/** Where the registry lists a session. */
export interface SessionListing {
  /** Among all sessions of this process. */
  readonly all: Link<SessionHandle>;
  /** Among those of its pool on its member. */
  onMember: Link<SessionHandle> | undefined;
  /** Its pool may still change. */
  isUnsettled: boolean;
}

/** A session, for every part of the program but its own stages. */
export interface SessionHandle extends Faulty {
  readonly id: number;
  /** With its port. */
  readonly client: string;
  /** The address at which the client was accepted. */
  readonly listener: Address;
  /** The listener's, until the client requests another. */
  readonly pool: PoolName;
  readonly state: SessionState;
  /** The registry's alone. */
  listing?: SessionListing | undefined;
  assignment(): Assignment | undefined;
  /** Between two transactions at this moment. */
  isIdle(): boolean;
  /** How long a client that has just logged in is left to send its first statement. Milliseconds, 0 after it. */
  settlesInMs(): number;
  /** Calls `run` whenever the session becomes idle. Returns the function that stops the calls; it is idempotent. */
  onIdle(run: () => void): () => void;
  /**
   * Ends the session synchronously. Its client is told why wherever it can be told: before there is a backend, and
   * between two messages of a relayed session. Else both connections are closed, or reset when the member must not
   * serve the session any longer. Does nothing to a session that is ending already.
   */
  end(reason: CloseReason, detail?: string): void;
  /** Closes both connections synchronously and without a message, in every state. */
  cut(reason: CloseReason, detail?: string): void;
  /**
   * A session that connects, or is logged in at its next server, is routed again. One whose client is logging in goes
   * on, or ends with `mustLeave`. Does nothing to any other.
   */
  reroute(mustLeave?: boolean): void;
  /** The facts of this moment. */
  entry(): SessionEntry;
  /** Those of this moment. */
  sockets(): { readonly client: ProxySocket; readonly backend: ProxySocket | undefined };
  /** Ends the statement that its server runs, if its key is known. The session is about to end. */
  endStatement(): StatementEnd;
  /** Undefined: it does not move. */
  readonly movable: Movable | undefined;
}

/** A session, for its own stages. */
export interface SessionControl extends SessionHandle {
  client: string;
  pool: PoolName;
  /** A connect begins, and the session counts on its member from now on. Undefined: it counts on none. */
  assign(assignment: Assignment | undefined): void;
  /**
   * Takes a step of the table in reports/session-state.ts; `next` begins with it, where it is given. False: the session
   * is closed, possibly just now, and the caller closes what it had for the new state.
   */
  move(step: SessionEvent, next?: Stage): boolean;
}

/** How a request to move ends. `failed`: the session has ended. */
export type Outcome =
  | { readonly kind: 'moved'; readonly to: MemberName }
  | { readonly kind: 'stayed'; readonly reason: PinReason; readonly detail?: string | undefined }
  | { readonly kind: 'failed'; readonly reason: CloseReason; readonly detail: string | undefined };

/** `parked`: it has left its server, and its outcome follows. */
export type Progress = Outcome | { readonly kind: 'parked' };

/** Where a session is to go. */
export interface MoveGoal {
  /** For the next attempt. Undefined: to any open member of its pool. */
  next(): MoveRoute | undefined;
}

export interface MoveRoute {
  /** The pool whose route leads there: it counts as the fallback. Undefined: the session's own. */
  readonly via: PoolPolicy | undefined;
  readonly suits: (server: AskedServer) => boolean;
}

/** The part of a handle that moves the session. */
export interface Movable {
  /**
   * Moves the session, if it can move and is between two transactions. Calls `onProgress` with the outcome at the end,
   * and before with `parked` if the session is parked. A session that is on its way already has the outcome of that
   * way. `goal`: absent, any open member of its pool.
   */
  request(cause: MoveCause, onProgress: (progress: Progress) => void, goal?: MoveGoal): void;
  /** As `request`, but waits for the end of its transaction, for `limitMs` at most. */
  requestWhenIdle(
    cause: MoveCause,
    limitMs: number,
    onProgress: (progress: Progress) => void,
    goal?: MoveGoal,
    error?: Uint8Array,
  ): void;
  /**
   * As `request`, for a session that waits in a transaction: the transaction is rolled back, and its client reads
   * `error` where it expects an answer next. A session that does not move then must be ended by the caller,
   * synchronously.
   */
  abort(cause: MoveCause, error: Uint8Array, onProgress: (progress: Progress) => void): void;
  /** Its server is gone by all evidence. True: it is parked, and will go on at the next primary, or end. */
  lose(): boolean;
  /** Asks its server, and moves nothing. Calls `onAnswer` once, or not at all if the session ends before. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void;
  /** When its server last said something to its client. */
  quietSince(): Instant;
  /** For an operator. */
  shown(): SessionMoves;
}

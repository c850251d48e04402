// A proxy, as the rest of the program sees it: the one of this process, or several workers that look like one.
import type { Action } from '../core/actions.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName, RoutingPolicy } from '../model/policy.ts';
import type { CertificateStatus, ClientCounts, PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { MoveResult } from '../reports/session-move.ts';
import type { Tally } from '../reports/tally.ts';
import type { BoundListener, ListenFailure, PreparedListeners } from './accept/listeners.ts';
import type { ProxyPolicy } from './options.ts';

export interface BoundProxy {
  readonly kind: 'listening';
  readonly listeners: readonly BoundListener[];
  /** Settles when clients are served: the first ones wait for the self-test of the relay. Never rejects. */
  readonly serving: Promise<void>;
}

export type ListenResult = BoundProxy | ListenFailure;

/** A policy whose new addresses are bound already. The table with the new pools must follow `apply` synchronously. */
export type PreparedPolicy = PreparedListeners;

export interface Proxy {
  /** Binds all listeners or none. Call once, and nothing else before it has settled. */
  listen(): Promise<ListenResult>;
  /** Binds the addresses that `policy` adds, all or none. Nothing else changes before `apply`. One at a time. */
  prepare(policy: ProxyPolicy & RoutingPolicy): Promise<PreparedPolicy>;
  /**
   * To be called synchronously with the decision, when table() is the new one. Evicts first, then releases held
   * clients.
   */
  tableChanged(actions: readonly Action[]): void;
  /**
   * This process stood still: clients of exclusive pools wait for a probe that began after that, for `limitMs` at most.
   */
  stalled(noticedAt: Instant, limitMs: number): void;
  /** No new connections. Existing ones stay, and those that the kernel completed before are accepted. */
  stopAccepting(): Promise<void>;
  /** Resolves when no session is left, and after `timeoutMs` at the latest. Changes nothing. */
  whenEmpty(timeoutMs: number): Promise<void>;
  /**
   * Refuses clients that wait, ends sessions between transactions, fast enough for all of them by `deadlineMs`, and
   * closes the rest then. Resolves when none is left.
   */
  drain(deadlineMs: number): Promise<void>;
  /** Closes all listeners and all sessions. */
  close(): void | Promise<void>;
  /** Brings `counts` and `certificate` up to date. Settles within a short time limit, never rejects. */
  gather(): Promise<void>;
  /** The live sessions that match. Settles within a short time limit, never rejects. */
  sessions(query: SessionQuery): Promise<SessionList>;
  /** Ends the session with that id. Settles within a short time limit, never rejects. */
  kill(session: number): Promise<KillResult>;
  /** Moves the session with that id to a server of its pool. Settles within the limits of `moves`, never rejects. */
  /** `mayAbort`: a transaction that is still open after `moves.wait` is rolled back. */
  move(session: number, mayAbort?: boolean): Promise<MoveResult>;
  /**
   * Which sessions on the member can move. Undefined: `moves` is not configured. Takes PREFLIGHT_MS at most, and half a
   * second more with workers. Never rejects.
   */
  preflight(member: MemberName): Promise<Preflight | undefined>;
  clients(): ClientCounts;
  /** Plain data, copied. */
  counts(): ReadonlyMap<PoolName, PoolCounts>;
  /** Undefined if TLS is between clients and members. */
  certificate(): CertificateStatus | undefined;
  /** Why it cannot serve as configured; undefined if it can. */
  trouble(): string | undefined;
  /** The worker processes; none if this process serves. */
  workers(): readonly WorkerStatus[];
}

/** The sessions are in this process. */
export interface LocalProxy extends Proxy {
  prepare(policy: ProxyPolicy): Promise<PreparedPolicy>;
  /** Synchronous. */
  close(): void;
  /**
   * This process's numbers, for its siblings. `byAddress` has only the addresses whose number changed since the last
   * call.
   */
  tally(): Tally;
  /** Whether a session of this process has the request's key. */
  knowsCancel(packet: Uint8Array): boolean;
  /**
   * For a peer, after knowsCancel(). `onDone` is called once, within a time limit; `problem`: why it reached no server.
   */
  passOnCancel(packet: Uint8Array, pool: PoolName, onDone: (problem?: string) => void): void;
}

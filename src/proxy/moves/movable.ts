// A session that may move: for the parts that want it to move, and for the mover.
import type { Shown } from '../../core/caught-up.ts';
import type { CloseReason, EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { CarriedState, Movability, PinReason } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import type { SessionMoves } from '../../reports/session-list.ts';

/** How a request to move ends. `failed`: the session has ended. */
export type Outcome =
  | { readonly kind: 'moved'; readonly to: MemberName }
  | { readonly kind: 'stayed'; readonly reason: PinReason; readonly detail?: string | undefined }
  | { readonly kind: 'failed'; readonly reason: CloseReason; readonly detail: string | undefined };

/** `parked`: it has left its server, and its outcome follows. */
export type Progress = Outcome | { readonly kind: 'parked' };

export interface Movable {
  /**
   * Moves the session, if it can move and is between two transactions. Calls `onProgress` with the outcome at the end,
   * and before with `parked` if the session is parked. A session that is on its way already has the outcome of that
   * way.
   */
  request(cause: EvictionCause, onProgress: (progress: Progress) => void): void;
  /** As `request`, but waits for the end of its transaction, for `limitMs` at most. */
  requestWhenIdle(cause: EvictionCause, limitMs: number, onProgress: (progress: Progress) => void): void;
  /** Its server is gone by all evidence. True: it is parked, and will go on at the next primary, or end. */
  lose(): boolean;
  /** Asks its server, and moves nothing. Calls `onAnswer` once, or not at all if the session ends before. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void;
  /** When its server last said something to its client. */
  quietSince(): Instant;
  /** For an operator. */
  shown(): SessionMoves;
}

/** A session, for what the mover says of it before it is parked. */
export interface Asked {
  readonly id: number;
  readonly pool: PoolName;
  /** Undefined: it is parked. */
  member(): MemberName | undefined;
  /** Of its server. */
  address(): Address | undefined;
}

/** A parked session, for the order in which they move. */
export interface Traveller {
  readonly pool: PoolName;
  /** Its login role. */
  readonly role: string;
  /** Its client has sent something since it was parked. */
  isWaiting(): boolean;
  /** Its turn has come, while it is parked. */
  travel(): void;
}

/** From the park to the end of the move. */
export interface Journey extends Traveller {
  /** Of the session. */
  readonly id: number;
  readonly from: MemberName;
  readonly cause: EvictionCause;
  /** Its next server must have that too. Undefined: the loss of its server decides. */
  readonly shown: Shown | undefined;
  readonly parkedAt: Instant;
}

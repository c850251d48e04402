// The values with which a session leaves its server, and the steps of its way to the next one.
import type { SeenPosition } from '../../core/caught-up.ts';
import type { Loss } from '../../core/coverage.ts';
import type { BackendEnding, MoveCause } from '../../model/close-reason.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState } from '../../model/moves.ts';
import type { OwedError } from '../cancel/waiting-bytes.ts';
import type { Assignment, MoveGoal } from '../stage.ts';
import type { LoginStep } from './log-in-again.ts';

/** The reason for the journey, and what the session takes with it. */
export interface Departure {
  readonly from: MemberName;
  readonly cause: MoveCause;
  readonly state: CarriedState;
  /** Its next server must have that too. Undefined: `loss` decides. */
  readonly shown: SeenPosition | undefined;
  /** Absent: any open member of its pool. */
  readonly goal?: MoveGoal | undefined;
  /** Set where its transaction was ended for that. */
  readonly aborted?: AbortedTransaction | undefined;
  /** Its client has read that its transaction was ended for that, or will. */
  readonly hasAborted?: boolean;
  /** Set where its server was lost without warning. */
  readonly loss?: ServerLoss;
}

export interface AbortedTransaction {
  /** For the next request of its client. Undefined: the transaction had failed already. */
  readonly owed: OwedError | undefined;
  /** For the statement that runs, once it is certain that its server is lost: messages. */
  readonly running?: Uint8Array;
}

export interface ServerLoss extends Loss {
  readonly server: Assignment;
  readonly ending: BackendEnding;
  /** The server's last words, which the client has not read. */
  readonly words: Uint8Array | undefined;
}

/** `logging_in`: it is connected. */
export type AttemptStep = 'connecting' | LoginStep;

/**
 * `unsure`: its server has ended it, and is being asked whether it meant this session alone. `owing`: its transaction
 * was ended, and its client has not asked for anything since. `queued`: it waits for its turn. `paused`: its last
 * attempt has failed. The session is parked in these, and moving in the others.
 */
export type ParkedStep = 'unsure' | 'owing' | 'queued' | 'paused';
export type TravelStep = ParkedStep | AttemptStep;

// The surroundings of a session that may move.
import type { Socket } from 'node:net';
import type { CloseReason } from '../../model/close-reason.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { SessionState } from '../../reports/session-state.ts';
import type { Faulty } from '../fault.ts';
import type { Assignment } from '../stage.ts';
import type { Mover } from './mover.ts';

/** The session as a whole. */
export interface MovingHost extends Faulty {
  readonly id: number;
  readonly pool: PoolName;
  readonly state: SessionState;
  isIdle(): boolean;
  onIdle(run: () => void): () => void;
  assignment(): Assignment | undefined;
  assign(assignment: Assignment | undefined): void;
  /** Enters the state. `leave` is called once, when the session leaves it. False: the session is closed. */
  enter(step: 'park' | 'move', leave: () => void): boolean;
  /** It is relayed again, to this member. False: the session is closed. */
  resumed(member: MemberName): boolean;
  end(reason: CloseReason, detail?: string): void;
  cut(reason: CloseReason, detail?: string): void;
}

export interface MovableInputs {
  readonly host: MovingHost;
  readonly client: Socket;
  /** Has the client's address, without its port. */
  readonly record: { address(): string };
  /** The startup packet as it was forwarded. */
  readonly packet: Uint8Array;
  readonly mover: Mover;
}

// The way of one session to its next server, from the park until it goes on there, or ends. It connects when its turn
// has come, and logs in. An attempt that fails for now is repeated until the time for parked sessions is over.
import type { Socket } from 'node:net';
import type { Shown } from '../../core/caught-up.ts';
import type { Target } from '../../core/routing-table.ts';
import type { CloseReason, EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import { asStepOf } from '../fault.ts';
import type { WaitingBytes } from '../cancel/waiting-bytes.ts';
import { sayGoodbye } from '../socket.ts';
import type { Interposed } from './interposed.ts';
import { logInAgain } from './log-in-again.ts';
import type { LoggedIn, LoginFailure } from './log-in-again.ts';
import type { Journey } from './movable.ts';
import { roleOf } from './move-facts.ts';
import type { MovableInputs } from './moving-host.ts';
import { ParkedClient } from './parked-client.ts';
import type { Ahead } from './parked-client.ts';
import { tooLateText } from './waits-for.ts';
import type { Uncovered, WithoutWarning } from './without-warning.ts';

/** The reason for the journey, and what the session takes with it. */
export interface Departure {
  readonly from: MemberName;
  readonly cause: EvictionCause;
  readonly state: CarriedState;
  /** Its next server must have that too. Undefined: the loss of its server decides. */
  readonly shown: Shown | undefined;
}

/** The session is logged in at its next server, and its state is set there. */
export interface Arrival {
  readonly target: Target;
  readonly backend: Socket;
  readonly login: LoggedIn;
  /** Of the connect. */
  readonly startedAt: Instant;
}

export interface OwnJourneyInputs extends MovableInputs {
  readonly departure: Departure;
  readonly interposed: Interposed;
  /** Knows what a session may have lost with its server. */
  readonly beside: WithoutWarning | undefined;
  /** The bytes that the client has sent already. */
  readonly waiting: WaitingBytes | undefined;
  /** The session is in state `relaying` again. */
  readonly onArrived: (arrival: Arrival) => void;
}

/** The pause before another attempt at a server that is starting, stopping, or full. Milliseconds. */
const RETRY_MS = 250;

/** Only the rest, or another route, is worth another login. */
const NOT_WHOLE = 'the rest of a cancelled statement has not come';

const nothing = (): void => {};

export class OwnJourney implements Journey {
  readonly id: number;
  readonly pool: PoolName;
  readonly role: string;
  readonly from: MemberName;
  readonly cause: EvictionCause;
  readonly state: CarriedState;
  readonly shown: Shown | undefined;
  readonly parkedAt: Instant;
  readonly #inputs: OwnJourneyInputs;
  /** Reads ahead. */
  readonly #client: ParkedClient;
  readonly #cancelLimit: () => void;
  /** Why the last attempt did not succeed. */
  #lastFailure: string | undefined;

  /** The session has just left its server. */
  constructor(inputs: OwnJourneyInputs) {
    const { host, mover, client, waiting, departure } = inputs;
    this.#inputs = inputs;
    this.id = host.id;
    this.pool = host.pool;
    this.role = roleOf(inputs.packet);
    this.from = departure.from;
    this.cause = departure.cause;
    this.state = departure.state;
    this.shown = departure.shown;
    this.parkedAt = mover.clock.now();
    const onLeft = (reason: CloseReason): void => host.cut(reason);
    const { clock, turns } = mover;
    const onWaiting = (): void => turns.waits(this);
    this.#client = new ParkedClient({ client, clock, waiting, onLeft, onWaiting, onWhole: () => this.#isWhole() });
    const limitMs = mover.parkTimeoutMs();
    this.#cancelLimit = mover.clock.schedule(limitMs, () => this.#tooLate(limitMs));
  }

  /** The next bytes of the client. */
  take(chunk: Uint8Array): void {
    this.#client.take(chunk);
  }

  /** A cancel request of the client. */
  cancel(): void {
    this.#client.cancel();
  }

  isWaiting(): boolean {
    return this.#client.isWaiting();
  }

  /** Undefined: its turn has come. */
  waitsFor(): string | undefined {
    return this.#inputs.mover.waitsFor(this);
  }

  lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /** Gives the client's socket back, paused. */
  end(): Ahead {
    this.#cancelLimit();
    return this.#client.release();
  }

  travel(): void {
    asStepOf(this.#inputs.host, () => this.#travel());
  }

  #travel(): void {
    const { host, mover, record } = this.#inputs;
    const { shown } = this;
    const pool = mover.pool(this.pool);
    const order = mover.order(this.pool);
    const lost = shown && order.lost(shown);
    if (lost !== undefined) return host.end('move_uncovered', lost);
    const startedAt = mover.clock.now();
    let abortConnect = nothing;
    let abortLogin = nothing;
    const leave = (): void => {
      abortConnect();
      abortLogin();
    };
    if (pool === undefined || !host.enter('move', leave)) return undefined;
    abortConnect = mover.connect({
      session: this.id,
      clientAddress: record.address(),
      pool,
      suits: shown && (({ member }) => order.seemsCaughtUp(shown, member)),
      onAssigned: (assignment) => host.assign(assignment),
      onConnected: (target, backend) => {
        abortLogin = this.#logIn(target, backend, startedAt);
      },
      onRouteAgain: () => this.waitAgain(0),
      onUnreachable: (pauseMs) => this.waitAgain(pauseMs),
    });
    return undefined;
  }

  /** It is parked until its next turn, which does not come before the pause is over. */
  waitAgain(pauseMs: number): void {
    const { host, mover } = this.#inputs;
    if (host.enter('park', () => mover.turns.left(this))) mover.turns.add(this, pauseMs);
  }

  /** The rest of a cancelled statement has come. */
  #isWhole(): void {
    const { turns } = this.#inputs.mover;
    if (this.#lastFailure !== NOT_WHOLE || turns.isMoving(this)) return;
    turns.left(this);
    turns.add(this, 0);
  }

  #tooLate(limitMs: number): void {
    const { host, beside } = this.#inputs;
    const reason = beside?.isUncovered() === true ? 'move_uncovered' : 'move_timeout';
    host.end(reason, tooLateText(limitMs, this.waitsFor(), this.#lastFailure));
  }

  #isUncovered(backend: Socket, { why, mayCome }: Uncovered): () => void {
    backend.destroy();
    this.#lastFailure = why;
    if (mayCome) this.waitAgain(RETRY_MS);
    else this.#inputs.host.end('move_uncovered', why);
    return nothing;
  }

  #logIn(target: Target, backend: Socket, startedAt: Instant): () => void {
    const { mover, packet, interposed, beside } = this.#inputs;
    const uncovered = beside?.uncoveredAt(target.member);
    if (uncovered !== undefined) return this.#isUncovered(backend, uncovered);
    const { login, negotiated } = interposed.login();
    return logInAgain({
      backend,
      startup: packet,
      login,
      negotiated,
      findVerifier: () => mover.verifiers.find(target, this.role),
      state: this.state,
      unnamed: interposed.memory.carriedUnnamed(this.state),
      order: this.shown && mover.order(this.pool).bind(this.shown, target.member),
      clock: mover.clock,
      onDone: (loggedIn) => this.#loggedIn({ target, backend, login: loggedIn, startedAt }),
      onFailed: (failure) => this.#failed(target, failure),
    });
  }

  #failed({ member }: Target, { reason, detail, isForNow }: LoginFailure): void {
    const { host, mover } = this.#inputs;
    const why = `${member}: ${detail}`;
    if (!isForNow) return host.end(reason, why);
    this.#lastFailure = why;
    mover.turnedAway(member);
    return this.waitAgain(RETRY_MS);
  }

  #loggedIn(arrival: Arrival): void {
    const { host, mover, client, onArrived } = this.#inputs;
    const { target, backend } = arrival;
    if (!mover.isOpen(this.pool, target)) {
      sayGoodbye(backend);
      return this.waitAgain(0);
    }
    // The rest of a cancelled statement must not come through.
    if (!this.#client.isWhole()) {
      sayGoodbye(backend);
      this.#lastFailure = NOT_WHOLE;
      return this.waitAgain(Infinity);
    }
    // The `close` event of a client that was reset in this turn of the event loop is still to come.
    if (client.destroyed) host.cut('client_reset');
    if (!host.resumed(target.member)) return void backend.destroy();
    return onArrived(arrival);
  }
}

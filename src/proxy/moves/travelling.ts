// The way of one session to its next server, from the park until it goes on there, or ends. It connects when its turn
// has come, and logs in. An attempt that fails for now is repeated until the time for parked sessions is over. `step`
// says where the session is; each step has at most one thing under way, which `#endStep` ends.
import type { Socket } from 'node:net';
import type { Shown } from '../../core/caught-up.ts';
import type { Loss } from '../../core/coverage.ts';
import type { Target } from '../../core/routing-table.ts';
import type { BackendEnding, CloseReason, EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import { asStepOf } from '../fault.ts';
import type { RelayedSession } from '../relay/relayed-session.ts';
import { sayGoodbye } from '../socket.ts';
import type { Assignment } from '../stage.ts';
import { roleOf } from '../../wire/startup/startup.ts';
import type { Interposed } from './interposed.ts';
import { logInAgain } from './log-in-again.ts';
import type { LoggedIn, LoginFailure, LoginStep } from './log-in-again.ts';
import { endsAll, inquire } from './loss-inquiry.ts';
import { ParkedClient } from './parked-client.ts';
import type { Ahead } from './parked-client.ts';
import type { MoverSessionInputs } from './session-mover.ts';
import type { Traveller } from './turns.ts';
import { tooLateText } from './waits-for.ts';

/**
 * `unsure`: its server has ended it, and is being asked whether it meant this session alone. `queued`: it waits for its
 * turn. `paused`: its last attempt has failed. The session is parked in these, and moving in the others. `logging_in`:
 * it is connected. `catching_up`: its next server does not show yet all that the last one has shown.
 */
export type TravelStep = 'unsure' | 'queued' | 'paused' | 'connecting' | LoginStep;

/** The reason for the journey, and what the session takes with it. */
export interface Departure {
  readonly from: MemberName;
  readonly cause: EvictionCause;
  readonly state: CarriedState;
  /** Its next server must have that too. Undefined: `loss` decides. */
  readonly shown: Shown | undefined;
  /** Set where its server was lost without warning. */
  readonly loss?: ServerLoss;
}

export interface ServerLoss extends Loss {
  readonly server: Assignment;
  readonly ending: BackendEnding;
  /** The server's last words, which the client has not read. */
  readonly words: Uint8Array | undefined;
}

/** The session is logged in at its next server, and its state is set there. */
export interface Arrival {
  readonly target: Target;
  readonly backend: Socket;
  readonly login: LoggedIn;
  /** Of the connect. */
  readonly startedAt: Instant;
}

export interface TravelInputs extends MoverSessionInputs {
  readonly departure: Departure;
  readonly interposed: Interposed;
  readonly relayed: RelayedSession;
  /** The session is in state `relaying` again. */
  readonly onArrived: (arrival: Arrival) => void;
  /** Its old server has ended this session alone: it does not move. */
  readonly onMeant: (loss: ServerLoss) => void;
}

/** The pause before another attempt at a server that is starting, stopping, or full. Milliseconds. */
const RETRY_MS = 250;

/** Only the rest, or another route, is worth another login. */
const NOT_WHOLE = 'the rest of a cancelled statement has not come';

const nothing = (): void => {};

export class Travelling implements Traveller {
  readonly departure: Departure;
  readonly id: number;
  readonly pool: PoolName;
  readonly role: string;
  readonly parkedAt: Instant;
  readonly #inputs: TravelInputs;
  #step: TravelStep = 'unsure';
  /** Ends what the step has under way. */
  #onStepEnd = nothing;
  /** Reads ahead. */
  #client: ParkedClient | undefined;
  #cancelLimit = nothing;
  /** Why the last attempt did not succeed. */
  #lastFailure: string | undefined;
  /** By the latest answer, the next server lacks what the lost one may have confirmed. */
  #isUncovered = false;

  constructor(inputs: TravelInputs) {
    this.#inputs = inputs;
    this.departure = inputs.departure;
    this.id = inputs.host.id;
    this.pool = inputs.host.pool;
    this.role = roleOf(inputs.packet);
    this.parkedAt = inputs.mover.clock.now();
  }

  /** The session leaves its server. False: it has ended. */
  park(): boolean {
    const { host, mover, client, relayed } = this.#inputs;
    if (!host.enter('park', this.#endStep)) return false;
    // The next server has read nothing of it.
    relayed.endBatch();
    const waiting = relayed.park(
      (chunk) => this.#client?.take(chunk),
      () => asStepOf(host, () => this.#client?.cancel()),
    );
    this.#client = new ParkedClient({
      client,
      clock: mover.clock,
      waiting,
      onLeft: (reason: CloseReason) => host.cut(reason),
      onWaiting: () => mover.turns.waits(this),
      onWhole: () => this.#isWhole(),
    });
    const limitMs = mover.parkTimeoutMs();
    this.#cancelLimit = mover.clock.schedule(limitMs, () => this.#tooLate(limitMs));
    return true;
  }

  /** Once, when the session is parked. */
  begin(): void {
    const { mover, packet } = this.#inputs;
    const { loss } = this.departure;
    if (loss === undefined || endsAll(loss, this.pool, mover.inquiry)) return this.#setOut();
    const onAnswer = (isMeant: boolean): void => {
      if (isMeant) this.#inputs.onMeant(loss);
      else this.#setOut();
    };
    this.#onStepEnd = inquire({ loss, pool: this.pool, packet, services: mover.inquiry }, onAnswer);
    return undefined;
  }

  get step(): TravelStep {
    return this.#step;
  }

  isWaiting(): boolean {
    return this.#client?.isWaiting() === true;
  }

  /** Undefined: it is moving. */
  waitsFor(): string | undefined {
    return this.#inputs.mover.waitsFor(this);
  }

  lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /** Its pause is over. */
  retry(): void {
    if (this.#step === 'paused') this.#queue(true);
  }

  /** Gives the client's socket back, paused. */
  end(): Ahead {
    this.#cancelLimit();
    this.#endStep();
    return this.#client?.release() ?? NOTHING_AHEAD;
  }

  travel(): void {
    asStepOf(this.#inputs.host, () => this.#travel());
  }

  /** It is parked until its next turn, which does not come before the pause is over. */
  waitAgain(pauseMs: number): void {
    const { host, mover } = this.#inputs;
    if (!host.enter('park', this.#endStep)) return;
    mover.turns.over(this);
    if (pauseMs > 0) this.#pause(pauseMs);
    else this.#queue(false);
    mover.turns.pump();
  }

  readonly #endStep = (): void => {
    const end = this.#onStepEnd;
    this.#onStepEnd = nothing;
    end();
  };

  #setOut(): void {
    const { mover } = this.#inputs;
    const { from, cause } = this.departure;
    mover.report({ kind: 'session_parked', pool: this.pool, session: this.id, member: from, cause });
    mover.departs(this);
    this.#queue(false);
    mover.turns.pump();
  }

  #queue(isRepeated: boolean): void {
    const { turns } = this.#inputs.mover;
    this.#endStep();
    this.#step = 'queued';
    this.#onStepEnd = () => turns.left(this);
    turns.add(this, isRepeated);
  }

  #pause(pauseMs: number): void {
    const { clock, turns } = this.#inputs.mover;
    this.#step = 'paused';
    if (pauseMs === Infinity) return;
    this.#onStepEnd = clock.schedule(pauseMs, () => {
      this.retry();
      turns.pump();
    });
  }

  #travel(): void {
    const { host, mover, record } = this.#inputs;
    const { shown } = this.departure;
    const pool = mover.pool(this.pool);
    const rule = mover.freshness(this.pool);
    const lost = shown && rule.lost(shown);
    if (lost !== undefined) return host.end('move_uncovered', lost);
    const startedAt = mover.clock.now();
    if (pool === undefined || !host.enter('move', this.#endStep)) return undefined;
    let abortConnect = nothing;
    let abortLogin = nothing;
    this.#step = 'connecting';
    this.#onStepEnd = () => {
      abortConnect();
      abortLogin();
    };
    abortConnect = mover.connect({
      session: this.id,
      clientAddress: record.address(),
      pool,
      suits: shown && (({ member }) => rule.seemsCaughtUp(shown, member)),
      onAssigned: (assignment) => host.assign(assignment),
      onConnected: (target, backend) => {
        abortLogin = this.#logIn(target, backend, startedAt);
      },
      onRouteAgain: () => this.waitAgain(0),
      onUnreachable: (pauseMs) => this.waitAgain(pauseMs),
    });
    return undefined;
  }

  #logIn(target: Target, backend: Socket, startedAt: Instant): () => void {
    const { mover, packet, interposed } = this.#inputs;
    const { loss, shown, state } = this.departure;
    const coverage = loss && mover.coverageAt(target.member, loss);
    this.#isUncovered = coverage?.kind === 'uncovered';
    if (coverage?.kind === 'uncovered') {
      backend.destroy();
      this.#lastFailure = coverage.why;
      if (coverage.mayCome) this.waitAgain(RETRY_MS);
      else this.#inputs.host.end('move_uncovered', coverage.why);
      return nothing;
    }
    this.#step = 'logging_in';
    const { login, negotiated } = interposed.login();
    return logInAgain({
      backend,
      startup: packet,
      login,
      negotiated,
      findVerifier: () => mover.verifiers.find(target, this.role),
      state,
      unnamed: interposed.memory.carriedUnnamed(state),
      check: shown && mover.freshness(this.pool).bind(shown, target.member),
      clock: mover.clock,
      onStep: (step) => (this.#step = step),
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
    if (this.#client?.isWhole() !== true) {
      sayGoodbye(backend);
      this.#lastFailure = NOT_WHOLE;
      return this.waitAgain(Infinity);
    }
    // The `close` event of a client that was reset in this turn of the event loop is still to come.
    if (client.destroyed) host.cut('client_reset');
    if (!host.resumed(target.member)) return void backend.destroy();
    return onArrived(arrival);
  }

  /** The rest of a cancelled statement has come. */
  #isWhole(): void {
    const isParked = this.#step === 'paused' || this.#step === 'queued';
    if (this.#lastFailure !== NOT_WHOLE || !isParked) return;
    this.#queue(false);
    this.#inputs.mover.turns.pump();
  }

  #tooLate(limitMs: number): void {
    const reason = this.#isUncovered ? 'move_uncovered' : 'move_timeout';
    this.#inputs.host.end(reason, tooLateText(limitMs, this.waitsFor(), this.#lastFailure));
  }
}

const NOTHING_AHEAD: Ahead = { bytes: new Uint8Array(0), hasEnded: false };

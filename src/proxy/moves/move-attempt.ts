// One attempt of a parked session to go on at a server: connects, logs in, and has the state taken over. Reports once,
// and nothing after the abort; every other end is the end of the session.
import type { Target } from '../../core/routing-table.ts';
import type { Instant } from '../../model/instant.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import { nothing } from '../../model/once.ts';
import type { CarriedUnnamed } from '../../wire/talk/session-restore.ts';
import { sayGoodbye, type ProxySocket } from '../socket.ts';
import { LogInAgain, type LoggedIn, type LoginFailure } from './log-in-again.ts';
import type { RepeatableLogin } from './login-tap.ts';
import type { AttemptStep, Departure } from './departure.ts';
import type { MoveParts } from './move-parts.ts';

/** The session is logged in there, and its state is set. */
export interface ReachedServer {
  readonly target: Target;
  readonly backend: ProxySocket;
  readonly login: LoggedIn;
  /** The start of the connect. */
  readonly startedAt: Instant;
}

export interface AttemptFailure {
  /** Without an address. */
  readonly why: string;
  /** The server lacks what the lost one may have confirmed, as far as is known. */
  readonly isUncovered: boolean;
}

export interface MoveAttemptOptions {
  readonly departure: Departure;
  readonly role: string;
  readonly login: RepeatableLogin;
  readonly unnamed: () => CarriedUnnamed | undefined;
  /** The session goes on in a transaction that has failed. */
  readonly hasFailed: boolean;
  readonly onStep: (step: AttemptStep) => void;
  readonly onReached: (reached: ReachedServer) => void;
  /** Another attempt may succeed, after the pause. */
  readonly onPause: (pauseMs: number, failure?: AttemptFailure) => void;
}

/** The pause before another attempt at a server that is starting, stopping, or full. Milliseconds. */
const RETRY_MS = 250;

export class MoveAttempt {
  readonly #parts: MoveParts;
  readonly #options: MoveAttemptOptions;
  readonly #startedAt: Instant;
  #abortConnect = nothing;
  #login: LogInAgain | undefined;
  #isAborted = false;
  /** The pool whose route leads to the server. Undefined: the session's own. */
  #via: PoolPolicy | undefined;

  constructor(parts: MoveParts, options: MoveAttemptOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#startedAt = parts.mover.clock.now();
  }

  /** The session is in state `moving`. */
  start(): void {
    const { session, mover, record } = this.#parts;
    const { departure, onStep, onPause } = this.#options;
    const { shown } = departure;
    const goal = departure.goal?.next();
    this.#via = goal?.via;
    const pool = mover.pool(session.pool);
    const rule = mover.freshness(session.pool);
    if (pool === undefined) return;
    onStep('connecting');
    this.#abortConnect = mover.connect({
      session: session.id,
      clientAddress: record.address(),
      pool,
      via: goal?.via,
      suits: (target) =>
        goal?.suits(target) !== false && (shown === undefined || rule.seemsCaughtUp(shown, target.member)),
      onAssigned: (assignment) => session.assign(assignment),
      onConnected: (target, backend) => this.#connected(target, backend),
      onRouteAgain: () => onPause(0),
      onUnreachable: (pauseMs) => onPause(pauseMs),
    });
  }

  /** Idempotent. */
  abort(): void {
    this.#isAborted = true;
    this.#abortConnect();
    this.#login?.abort();
  }

  #connected(target: Target, backend: ProxySocket): void {
    const { session, mover } = this.#parts;
    const { loss } = this.#options.departure;
    const coverage = loss && mover.coverageAt(target.member, loss);
    if (coverage?.kind !== 'uncovered') return this.#logIn(target, backend);
    backend.destroy();
    if (!coverage.mayCome) return session.end('move_uncovered', coverage.why);
    return this.#options.onPause(RETRY_MS, { why: coverage.why, isUncovered: true });
  }

  #logIn(target: Target, backend: ProxySocket): void {
    const { session, mover, packet } = this.#parts;
    const { departure, role, login, unnamed, hasFailed, onStep } = this.#options;
    const { shown, state } = departure;
    onStep('logging_in');
    this.#login = new LogInAgain({
      backend,
      startup: packet,
      login: login.login,
      negotiated: login.negotiated,
      findVerifier: () => mover.verifiers.find(target, role),
      state,
      unnamed: unnamed(),
      hasFailed,
      check: shown && mover.freshness(session.pool).bind(shown, target.member),
      clock: mover.clock,
      onStep,
      onDone: (loggedIn) => this.#loggedIn(target, backend, loggedIn),
      onFailed: (failure) => this.#failed(target, failure),
    });
    this.#login.start();
  }

  #failed({ member }: Target, { reason, detail, isForNow }: LoginFailure): void {
    const { session, mover } = this.#parts;
    const why = `${member}: ${detail}`;
    if (!isForNow) return session.end(reason, why);
    mover.turnedAway(member);
    return this.#options.onPause(RETRY_MS, { why, isUncovered: false });
  }

  /** Its route is looked at once more, synchronously with the last answer (G2, G3). */
  #loggedIn(target: Target, backend: ProxySocket, login: LoggedIn): void {
    const { session, mover } = this.#parts;
    const { onReached, onPause } = this.#options;
    const isOpen = mover.isOpen(this.#via?.name ?? session.pool, target);
    // An overdue decision may have parked the session again, or ended it.
    if (isOpen && !this.#isAborted) return onReached({ target, backend, login, startedAt: this.#startedAt });
    sayGoodbye(backend);
    return this.#isAborted ? undefined : onPause(0);
  }
}

// The way of one session to its next server, from the park until it goes on there, or ends. It connects when its turn
// has come, and logs in. An attempt that fails for now is repeated until the time for parked sessions is over. `step`
// says where the session is; each step has at most one thing under way, which `#endStep` ends.
import type { CloseReason } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { PoolName } from '../../model/policy.ts';
import { asStepOf } from '../fault.ts';
import type { Relayed } from '../relay/relayed.ts';
import { resetSocket, sayGoodbye, type ProxySocket } from '../socket.ts';
import type { Farewell, Stage } from '../stage.ts';
import { roleOf } from '../../wire/startup/startup.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { SessionState } from '../../reports/session-state.ts';
import { endsAll, inquire } from './loss-inquiry.ts';
import { ParkedClient, type Ahead } from './parked-client.ts';
import { MoveAttempt, type AttemptFailure, type MoveAttemptOptions, type ReachedServer } from './move-attempt.ts';
import type { MoveParts } from './move-parts.ts';
import type { AttemptStep, Departure, ServerLoss, TravelStep } from './departure.ts';
import type { Passenger } from './mover.ts';
import { tooLateText } from './waits-for.ts';

/** The session is relayed at its next server, which has taken over its state. */
export interface Arrival extends ReachedServer {
  readonly relayed: Relayed;
  /** The client's bytes. */
  readonly ahead: Ahead;
}

interface Way extends Pick<MoveAttemptOptions, 'departure' | 'login' | 'unnamed'> {
  readonly onArrived: (arrival: Arrival) => void;
}

/** Only the rest, or another route, is worth another login. */
const NOT_WHOLE: AttemptFailure = { why: 'the rest of a cancelled statement has not come', isUncovered: false };

export class Travelling implements Stage, Passenger {
  readonly departure: Departure;
  readonly pool: PoolName;
  readonly role: string;
  readonly parkedAt: Instant;
  readonly #parts: MoveParts;
  /** At its old server. */
  readonly #relayed: Relayed;
  readonly #way: Way;
  /** Only this class changes it. */
  step: TravelStep = 'unsure';
  /** Ends what the step has under way. */
  #onStepEnd = nothing;
  /** Reads ahead. */
  #client: ParkedClient | undefined;
  #cancelLimit = nothing;
  /** The failure of the last attempt. */
  #failure: AttemptFailure | undefined;
  /** Its server meant this session alone: how its client is told. */
  #lost: Farewell | undefined;

  constructor(parts: MoveParts, relayed: Relayed, way: Way) {
    this.#parts = parts;
    this.#relayed = relayed;
    this.#way = way;
    this.departure = way.departure;
    this.pool = parts.session.pool;
    this.role = roleOf(parts.packet);
    this.parkedAt = parts.mover.clock.now();
  }

  /** The session leaves its server. False: it has ended. */
  park(): boolean {
    const { session, mover, client, conversation } = this.#parts;
    if (!session.move('park', this)) return false;
    // The next server has read nothing of it.
    conversation.endBatch();
    const waiting = this.#relayed.park((chunk) => this.#client?.take(chunk));
    conversation.parks(() => asStepOf(session, () => this.#client?.cancel()));
    const { aborted } = this.departure;
    this.#client = new ParkedClient({
      client,
      clock: mover.clock,
      waiting,
      ended: aborted && {
        owed: aborted.owed,
        tell: (bytes) => conversation.passToClient(bytes),
        onTold: () => this.#told(),
      },
      onLeft: (reason: CloseReason) => session.cut(reason),
      onWaiting: () => mover.turns.waits(this),
      onWhole: () => this.#isWhole(),
    });
    const limitMs = mover.policy()?.parkTimeoutMs ?? 0;
    this.#cancelLimit = mover.clock.schedule(limitMs, () => this.#tooLate(limitMs));
    return true;
  }

  /** Once, when the session is parked. */
  begin(): void {
    const { mover, packet } = this.#parts;
    const { loss } = this.departure;
    if (loss === undefined || endsAll(loss, this.pool, mover.inquiry)) return this.#setOut();
    this.#onStepEnd = inquire({ loss, pool: this.pool, packet, services: mover.inquiry }, (isMeant) => {
      if (isMeant) this.#tellLastWords(loss);
      else this.#setOut();
    });
    return undefined;
  }

  // Stage

  client(): ProxySocket {
    return this.#parts.client;
  }

  left(to: SessionState): void {
    this.#endStep();
    if (to === 'parked' || to === 'moving') return;
    this.#cancelLimit();
    this.#client?.release();
    if (to !== 'relaying') this.#parts.conversation.key.remove();
  }

  farewell(reason: CloseReason, detail?: string): Farewell | undefined {
    return this.#lost ?? this.#parts.conversation.farewell(reason, detail, { pool: this.pool });
  }

  drop(isReset: boolean): void {
    // A fault has ended the session before the park.
    if (this.#client === undefined) this.#relayed.drop(isReset);
    else if (isReset) resetSocket(this.#parts.client);
    else this.#parts.client.destroy();
  }

  /** Its next server is no longer open. */
  reroute(): void {
    if (this.#parts.session.state === 'moving') this.#waitAgain(0);
  }

  isWaiting(): boolean {
    return this.#client?.isWaiting() === true;
  }

  /** For an operator. */
  underway(): NonNullable<SessionMoves['underway']> {
    const { from, cause } = this.departure;
    const waitsFor = this.#parts.mover.waitsFor(this);
    const why = this.#failure?.why;
    return {
      from,
      cause,
      leftAt: this.parkedAt,
      isWaiting: this.isWaiting(),
      ...(waitsFor !== undefined && { waitsFor }),
      ...(why !== undefined && { why }),
    };
  }

  /** Its pause is over. */
  retry(): void {
    if (this.step === 'paused') this.#queue(true);
  }

  travel(): void {
    asStepOf(this.#parts.session, () => this.#travel());
  }

  /** It is parked until its next turn, which does not come before the pause is over. */
  #waitAgain(pauseMs: number): void {
    const { session, mover } = this.#parts;
    if (!session.move('park')) return;
    mover.turns.over(this);
    if (pauseMs > 0) this.#pause(pauseMs);
    else this.#queue(false);
    mover.turns.pump();
  }

  #endStep(): void {
    const end = this.#onStepEnd;
    this.#onStepEnd = nothing;
    end();
  }

  #setOut(): void {
    const { mover, session, conversation } = this.#parts;
    const { from, cause, hasAborted, aborted } = this.departure;
    if (aborted?.running !== undefined) conversation.passToClient(aborted.running);
    const isAborted = hasAborted === true ? { hasAborted } : {};
    mover.report({ kind: 'session_parked', pool: this.pool, session: session.id, member: from, cause, ...isAborted });
    mover.departs(this);
    if (this.#client?.isOwed() === true) {
      this.step = 'owing';
      return;
    }
    this.#queue(false);
    mover.turns.pump();
  }

  /** Its client knows that its transaction was ended. */
  #told(): void {
    if (this.step !== 'owing') return;
    this.#queue(false);
    this.#parts.mover.turns.pump();
  }

  #queue(isRepeated: boolean): void {
    const { turns } = this.#parts.mover;
    this.#endStep();
    this.step = 'queued';
    this.#onStepEnd = () => turns.left(this);
    turns.add(this, isRepeated);
  }

  #pause(pauseMs: number): void {
    const { clock, turns } = this.#parts.mover;
    this.step = 'paused';
    this.#onStepEnd = clock.schedule(pauseMs, () => {
      this.retry();
      turns.pump();
    });
  }

  #travel(): void {
    const { session, mover } = this.#parts;
    const { shown } = this.departure;
    const lost = shown && mover.freshness(this.pool).lost(shown);
    if (lost !== undefined) return session.end('move_uncovered', lost);
    if (!session.move('move')) return undefined;
    const { login, unnamed } = this.#way;
    let hasUnnamed = false;
    const attempt = new MoveAttempt(this.#parts, {
      departure: this.departure,
      role: this.role,
      login,
      unnamed: () => {
        hasUnnamed = this.#client?.hasLostUnnamed() !== true;
        return hasUnnamed ? unnamed() : undefined;
      },
      hasFailed: this.#client?.hasFailed() === true,
      onStep: (step) => this.#goes(step),
      onReached: (reached) => this.#arrive(reached, hasUnnamed),
      onPause: (pauseMs, failure) => {
        if (failure !== undefined) this.#attemptFailed(failure);
        this.#waitAgain(pauseMs);
      },
    });
    this.#onStepEnd = () => attempt.abort();
    return attempt.start();
  }

  /** Reports a new reason alone: attempts follow one another in fractions of a second. */
  #attemptFailed(failure: AttemptFailure): void {
    const { session, mover } = this.#parts;
    const { cause } = this.departure;
    const isNew = failure.why !== this.#failure?.why;
    this.#failure = failure;
    if (!isNew) return;
    mover.report({ kind: 'move_attempt_failed', pool: this.pool, session: session.id, cause, detail: failure.why });
  }

  #goes(step: AttemptStep): void {
    this.step = step;
    // Its next server has all that it was told.
    if (step === 'logging_in' && this.#failure?.isUncovered === true) {
      this.#failure = { ...this.#failure, isUncovered: false };
    }
  }

  #arrive(reached: ReachedServer, hasUnnamed: boolean): void {
    const { session, client } = this.#parts;
    const { target, backend } = reached;
    // A cancel has taken the text that replaces it: the server must not have the text of before.
    if (hasUnnamed && this.#client?.hasLostUnnamed() === true) {
      sayGoodbye(backend);
      return this.#waitAgain(0);
    }
    // The rest of a cancelled statement must not come through.
    if (this.#client?.isWhole() !== true) {
      sayGoodbye(backend);
      this.#failure = NOT_WHOLE;
      return this.#waitAgain(Infinity);
    }
    // The `close` event of a client that was reset in this turn of the event loop is still to come.
    if (client.destroyed) session.cut('client_reset');
    const relayed = this.#relayed.next(target, backend);
    if (!session.move('resume', relayed)) return void backend.destroy();
    const login = { ...reached.login, isUnnamedRefused: reached.login.isUnnamedRefused || !hasUnnamed };
    return this.#way.onArrived({ ...reached, login, relayed, ahead: this.#client.ahead() });
  }

  /** Its client reads the last words. */
  #tellLastWords({ ending, words }: ServerLoss): void {
    const { session, conversation } = this.#parts;
    if (words !== undefined) conversation.passToClient(words);
    const { farewell, canTell } = this.#relayed.lossBy(ending);
    this.#lost = farewell;
    if (canTell) session.end(ending);
    else session.cut(ending);
  }

  /** The rest of a cancelled statement has come. */
  #isWhole(): void {
    if (this.#failure !== NOT_WHOLE || this.step !== 'paused') return;
    this.#queue(false);
    this.#parts.mover.turns.pump();
  }

  #tooLate(limitMs: number): void {
    const { session, mover } = this.#parts;
    const reason = this.#failure?.isUncovered === true ? 'move_uncovered' : 'move_timeout';
    session.end(reason, tooLateText(limitMs, mover.waitsFor(this), this.#failure?.why));
  }
}

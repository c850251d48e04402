// Moves one session: has its server asked for its state (`state-inquiry.ts`) and the session parked, and has it go on
// at its next server. It decides nothing about servers: the session travels when its turn has come (`travelling.ts`).
// Each step begins between two transactions, and whatever is unknown leaves the session where it is, or ends it.
import type { BackendEnding, CloseReason, MoveCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import { asStepOf } from '../fault.ts';
import type { MovingPart, Relayed } from '../relay/relayed.ts';
import type { Movable, MoveGoal, Outcome, Progress } from '../stage.ts';
import { roleOf } from '../../wire/startup/startup.ts';
import { joined } from '../../wire/messages/server-messages.ts';
import { SessionMemory } from '../../wire/follow/session-memory.ts';
import { Continuity } from './continuity.ts';
import { LoginTap } from './login-tap.ts';
import { MoveRecord } from './move-record.ts';
import { abortedTransaction, isQuiet, whenQuiet } from './open-transaction.ts';
import { QuestionChannel } from './question-channel.ts';
import { Travelling, type Arrival } from './travelling.ts';
import type { AbortedTransaction, Departure } from './departure.ts';
import type { MoveParts } from './move-parts.ts';
import { isConfigured, pinned, StateInquiry, type PinnedAs } from './state-inquiry.ts';

interface Wish {
  readonly cause: MoveCause;
  readonly goal: MoveGoal | undefined;
  /** For the client whose transaction is rolled back for the move. Undefined: none is. */
  readonly error: Uint8Array | undefined;
}

/** The record of a session that has never moved. */
const NO_MOVES = new MoveRecord();

export class SessionMover implements Movable, MovingPart {
  readonly #parts: MoveParts;
  readonly #memory: SessionMemory;
  readonly #questions: QuestionChannel;
  readonly #login: LoginTap;
  readonly #inquiry: StateInquiry;
  /** Undefined: the session ends when its server is lost without warning. */
  readonly #continuity: Continuity | undefined;
  /** At its server, or at its last one. */
  #relayed: Relayed | undefined;
  #travelling: Travelling | undefined;
  // Most sessions are never asked to move, and need none of these.
  /** Called with the progress of the move that is under way. */
  #listeners: ((progress: Progress) => void)[] | undefined;
  #record: MoveRecord | undefined;
  /** Requests that wait for the end of a transaction. */
  #whenIdle: Set<() => void> | undefined;
  /** How the session has ended. */
  #end: Extract<Outcome, { kind: 'failed' }> | undefined;

  constructor(parts: MoveParts) {
    const { mover, packet, conversation } = parts;
    this.#parts = parts;
    this.#memory = new SessionMemory(mover.sharedTold);
    this.#questions = new QuestionChannel(mover.clock, conversation);
    const wal = mover.lossEvidence();
    this.#continuity = wal && new Continuity(wal, parts, this.#questions, this);
    this.#memory.watch = this.#continuity?.watch;
    const afterLogin = this.#continuity === undefined ? [this.#questions] : [this.#questions, this.#continuity];
    const keepsLogin = isConfigured(mover.policy(), roleOf(packet));
    this.#login = new LoginTap(keepsLogin, (told) => {
      this.#memory.begins(told);
      conversation.tappedBy(afterLogin);
    });
    this.#inquiry = new StateInquiry(parts, { memory: this.#memory, questions: this.#questions, login: this.#login });
    conversation.readAlong(this.#memory, keepsLogin ? [this.#login, ...afterLogin] : afterLogin);
  }

  relayedBy(relayed: Relayed): void {
    this.#relayed = relayed;
  }

  serverEnded(ending: BackendEnding): boolean {
    return this.#continuity?.serverEnded(ending) === true;
  }

  /** Requests of its client that were held back for a pause go on. */
  goOn(): void {
    this.#parts.conversation.goOn();
  }

  request(cause: MoveCause, onProgress: (progress: Progress) => void, goal?: MoveGoal): void {
    this.#request({ cause, goal, error: undefined }, onProgress);
  }

  abort(cause: MoveCause, error: Uint8Array, onProgress: (progress: Progress) => void): void {
    this.#request({ cause, goal: undefined, error }, onProgress);
  }

  #request(wish: Wish, onProgress: (progress: Progress) => void): void {
    if (this.#end !== undefined) return onProgress(this.#end);
    const listeners = (this.#listeners ??= []);
    listeners.push(onProgress);
    if (this.#travelling !== undefined) return onProgress({ kind: 'parked' });
    if (listeners.length > 1) return undefined;
    const ask = (hasTold: boolean): void =>
      asStepOf(this.#parts.session, () =>
        this.#inquiry.ask((found, state) => {
          if (found.kind === 'pinned') this.#stays(wish.cause, found);
          else if (state !== undefined) this.#park(wish, state, hasTold);
        }, wish.error !== undefined),
      );
    return wish.error === undefined ? ask(false) : whenQuiet(this.#parts, this.#questions, wish.error, ask);
  }

  requestWhenIdle(
    cause: MoveCause,
    limitMs: number,
    onProgress: (progress: Progress) => void,
    goal?: MoveGoal,
    error?: Uint8Array,
  ): void {
    const { session, mover } = this.#parts;
    if (session.isIdle() || session.state !== 'relaying') return this.request(cause, onProgress, goal);
    const waiting = (this.#whenIdle ??= new Set());
    const go = (): void => {
      waiting.delete(go);
      stopListening();
      cancelLimit();
      this.#request({ cause, goal, error }, onProgress);
    };
    const stopListening = session.onIdle(go);
    const cancelLimit = mover.clock.schedule(limitMs, go);
    waiting.add(go);
    return undefined;
  }

  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void {
    asStepOf(this.#parts.session, () => this.#inquiry.ask(onAnswer));
  }

  lose(): boolean {
    let isLost = false;
    asStepOf(this.#parts.session, () => (isLost = this.#continuity?.lose() === true));
    return isLost;
  }

  /** The session ends: synchronous with its transition. Idempotent. */
  ended(reason: CloseReason, detail: string | undefined): void {
    const travelling = this.#travelling;
    this.#end ??= { kind: 'failed', reason, detail };
    this.#inquiry.stop();
    this.#travelling = undefined;
    if (travelling !== undefined) this.#parts.mover.arrived(travelling);
    this.#login.clear();
    this.#continuity?.stop();
    for (const go of this.#whenIdle ?? []) go();
    this.#report(this.#end);
  }

  quietSince(): Instant {
    return this.#questions.quietSince();
  }

  shown(): SessionMoves {
    return (this.#record ?? NO_MOVES).shown(this.#inquiry.found(), this.#travelling?.underway());
  }

  mayStillMove(state: CarriedState): boolean {
    return this.#inquiry.mayStillMove(state);
  }

  endsTransaction(error: Uint8Array, state: CarriedState): AbortedTransaction | undefined {
    return abortedTransaction(this.#parts, error, this.#memory, state);
  }

  /** The session leaves its server. False: it has ended. */
  depart(departure: Departure): boolean {
    const relayed = this.#relayed;
    if (relayed === undefined) return false;
    const travelling = new Travelling(this.#parts, relayed, {
      departure,
      login: this.#login.login(),
      unnamed: () => this.#memory.carriedUnnamed(departure.state),
      onArrived: (arrival) => this.#goOn(travelling, arrival),
    });
    if (!travelling.park()) return false;
    this.#travelling = travelling;
    travelling.begin();
    return true;
  }

  #member(): MemberName | undefined {
    return this.#parts.session.assignment()?.member;
  }

  #stays(cause: MoveCause, { reason, detail }: PinnedAs): void {
    const { id, pool } = this.#parts.session;
    const member = this.#member();
    if (member !== undefined) {
      this.#parts.mover.report({ kind: 'session_stayed', pool, session: id, member, cause, reason, detail });
    }
    this.#report({ kind: 'stayed', reason, detail });
  }

  /** Synchronous with the last byte of the answer: no byte of the client has gone to the server since the question. */
  #park({ cause, goal, error }: Wish, state: CarriedState, hasTold: boolean): void {
    const from = this.#member();
    if (from === undefined || !isQuiet(this.#parts, error !== undefined)) return this.#stays(cause, pinned('busy'));
    const shown = this.#inquiry.position(state.wal);
    if (typeof shown === 'string') return this.#stays(cause, pinned('unknown_position', shown));
    const aborted = error && this.endsTransaction(error, state);
    const hasAborted = hasTold || aborted?.owed !== undefined;
    if (!this.depart({ from, cause, state, shown, goal, aborted, hasAborted })) return undefined;
    return this.#listeners?.forEach((run) => run({ kind: 'parked' }));
  }

  #goOn(travelling: Travelling, arrival: Arrival): void {
    const { mover } = this.#parts;
    this.#travelling = undefined;
    try {
      this.#resume(travelling, arrival);
    } finally {
      // A session that fails here keeps no turn from the others.
      mover.arrived(travelling);
    }
    this.#report({ kind: 'moved', to: arrival.target.member });
  }

  #resume(travelling: Travelling, { target, relayed, login, ahead, startedAt }: Arrival): void {
    const { mover, session } = this.#parts;
    const { state, from, cause } = travelling.departure;
    const { member: to } = target;
    const wasWaiting = travelling.isWaiting();
    this.#memory.carries(login.isUnnamedRefused ? { ...state, unnamed: 'refused' } : state);
    const news = joined([this.#memory.news(login.parameters), login.rest]);
    relayed.resume(login.key, news, { packet: undefined, ...ahead });
    const now = mover.clock.now();
    (this.#record ??= new MoveRecord()).moved(travelling, to, now);
    this.#continuity?.resumed();
    const { pool, parkedAt } = travelling;
    const [gapMs, loginMs] = [now - parkedAt, now - startedAt];
    mover.report({ kind: 'session_moved', pool, session: session.id, from, to, cause, gapMs, loginMs, wasWaiting });
  }

  #report(outcome: Outcome): void {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const run of listeners) run(outcome);
  }
}

// Moves one session: has its server asked for its state and the session parked, and has it go on at its next server. It
// decides nothing about servers: the session travels when its turn has come (`travelling.ts`). Each step begins between
// two transactions, and whatever is unknown leaves the session where it is, or ends it.
import type { SeenPosition } from '../../core/caught-up.ts';
import { movability, movabilityBefore, type MoveFacts } from '../../core/movability.ts';
import type { BackendEnding, CloseReason, MoveCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability, MovesPolicy, PinReason, WalReport } from '../../model/moves.ts';
import { matchesWildcard } from '../../model/wildcard.ts';
import type { QuestionResult } from '../../reports/move-events.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import { asStepOf } from '../fault.ts';
import type { MovingPart, Relayed } from '../relay/relayed.ts';
import type { Movable, MoveGoal, Outcome, Progress } from '../stage.ts';
import { roleOf, startupParameters } from '../../wire/startup/startup.ts';
import { CANCELED, STATEMENT_LIMIT_MS } from '../../wire/talk/pipeline.ts';
import { joined } from '../../wire/messages/server-messages.ts';
import { SessionMemory } from '../../wire/follow/session-memory.ts';
import { RollbackQuestion } from '../../wire/talk/rollback-question.ts';
import type { StateAnswer } from '../../wire/talk/session-question.ts';
import { AfterSync } from './after-sync.ts';
import { Continuity } from './continuity.ts';
import { LoginTap } from './login-tap.ts';
import { MoveRecord } from './move-record.ts';
import { abortedTransaction, isQuiet, whenQuiet } from './open-transaction.ts';
import { QuestionChannel } from './question-channel.ts';
import { Travelling, type Arrival } from './travelling.ts';
import type { AbortedTransaction, Departure } from './departure.ts';
import type { MoveParts } from './move-parts.ts';

type PinnedAs = Extract<Movability, { kind: 'pinned' }>;

interface Wish {
  readonly cause: MoveCause;
  readonly goal: MoveGoal | undefined;
  /** For the client whose transaction is rolled back for the move. Undefined: none is. */
  readonly error: Uint8Array | undefined;
}

/** The record of a session that was never asked and never moved. */
const NO_MOVES = new MoveRecord();

/** More cancel requests in a row are no accident: somebody ends the question on purpose. */
const MOST_CANCELED = 5;

export class SessionMover implements Movable, MovingPart {
  readonly #parts: MoveParts;
  readonly #memory: SessionMemory;
  readonly #questions: QuestionChannel;
  readonly #login: LoginTap;
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
  /** Known without a question at its end, which overwrites its login. */
  #beforeEnd: Movability | undefined;

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
        this.#ask((found, state) => {
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
    asStepOf(this.#parts.session, () => this.#ask(onAnswer));
  }

  /** `mayAbort`: a transaction that waits for the client is rolled back before. */
  #ask(onAnswer: (found: Movability, state?: CarriedState) => void, mayAbort = false, canceled = 0): void {
    const { session, mover, conversation, packet } = this.#parts;
    if (this.#end !== undefined) return undefined;
    const questions = this.#questions;
    const facts = this.#facts();
    const before = movabilityBefore(facts);
    if (before.kind === 'pinned') return onAnswer(before);
    if (!isQuiet(this.#parts, mayAbort)) return onAnswer(pinned('busy'));
    if (questions.isBusy()) {
      return questions.whenFree(() => asStepOf(session, () => this.#ask(onAnswer, mayAbort)));
    }
    if (questions.isAsking()) return onAnswer(pinned('question_failed', 'an earlier question has no answer yet'));
    const startedAt = mover.clock.now();
    const member = this.#member();
    const database = startupParameters(packet).get('database') ?? facts.loginRole;
    const question = mover.question(this.#login.login().serverMajor, database, this.#memory);
    const isOpen = !session.isIdle();
    const isBatch = conversation.endBatch();
    const between = isBatch ? new AfterSync(question) : question;
    return questions.ask(isOpen ? new RollbackQuestion(question) : between, (result) => {
      // A late cancel request of the client or of an administrator has hit it. Its own limit would take longer.
      const isHit = result?.kind === 'failed' && result.sqlState === CANCELED && canceled < MOST_CANCELED;
      if (isHit && mover.clock.now() - startedAt < STATEMENT_LIMIT_MS) {
        return this.#ask(onAnswer, mayAbort, canceled + 1);
      }
      if (result?.kind === 'answered') mover.named.learn(database, result.state.namedSettings);
      // A reload may have changed what the session may do.
      const found = this.#judged(result);
      (this.#record ??= new MoveRecord()).answered(found, mover.clock.now());
      this.#reportAsked(member, result?.kind === 'answered' ? found.kind : 'failed', startedAt);
      onAnswer(found, result?.kind === 'answered' ? result.state : undefined);
      // Its client does not know that the transaction has ended: nothing of it may run at this server any more.
      if (isOpen && session.state === 'relaying') session.cut('backend_closed', 'its transaction was ended');
      // After a FATAL error the server closes by itself. Bytes that are no protocol must not reach the client.
      const isWhole = conversation.isWhole() && conversation.follower()?.fatal() === undefined;
      if (result?.kind === 'over' && isWhole) session.cut('backend_closed', result.why);
    });
  }

  lose(): boolean {
    let isLost = false;
    asStepOf(this.#parts.session, () => (isLost = this.#continuity?.lose() === true));
    return isLost;
  }

  /** The session ends: synchronous with its transition. Idempotent. */
  ended(reason: CloseReason, detail: string | undefined): void {
    const travelling = this.#travelling;
    if (this.#parts.session.state === 'closing') this.#beforeEnd ??= movabilityBefore(this.#facts());
    this.#end ??= { kind: 'failed', reason, detail };
    this.#travelling = undefined;
    if (travelling !== undefined) this.#parts.mover.arrived(travelling);
    this.#questions.stop();
    this.#login.clear();
    this.#continuity?.stop();
    for (const go of this.#whenIdle ?? []) go();
    this.#report(this.#end);
  }

  quietSince(): Instant {
    return this.#questions.quietSince();
  }

  shown(): SessionMoves {
    const before = this.#beforeEnd ?? movabilityBefore(this.#facts());
    return (this.#record ?? NO_MOVES).shown(before, this.#travelling?.underway());
  }

  /** With what its server has told since then, such as another `TimeZone` after a reload. */
  mayStillMove(state: CarriedState): boolean {
    return movability(this.#facts(), state).kind === 'movable';
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

  /** For the decision whether it can move, as far as its server need not be asked. */
  #facts(): MoveFacts {
    const { mover, packet, conversation } = this.#parts;
    const loginRole = roleOf(packet);
    const policy = mover.policy();
    return {
      isReadable: conversation.activity() !== undefined,
      isReplication: startupParameters(packet).has('replication'),
      isRoleConfigured: isConfigured(policy, loginRole),
      loginFault: this.#login.isReading() ? undefined : mover.verifiers.loginFault(this.#login.login().login),
      ...this.#memory.facts(),
      areSettingsListed: policy !== undefined && policy.settings.length > 0,
      loginRole,
    };
  }

  #judged(result: StateAnswer | undefined): Movability {
    if (result === undefined) return pinned('question_failed', 'no answer in time');
    if (result.kind !== 'answered') {
      return pinned(result.kind === 'failed' ? result.reason : 'question_failed', result.why);
    }
    const found = movability(this.#facts(), result.state);
    const position = found.kind === 'movable' ? this.#position(result.state.wal) : undefined;
    return typeof position === 'string' ? pinned('unknown_position', position) : found;
  }

  /**
   * To be called synchronously with the answer of its server. A string says why its position cannot be compared with
   * that of another server.
   */
  #position(wal: WalReport | undefined): SeenPosition | string {
    const { session, mover } = this.#parts;
    const at = session.assignment();
    return at === undefined
      ? 'its server is not known'
      : mover.freshness(session.pool).shown(at.member, wal, at.address);
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
    const shown = this.#position(state.wal);
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

  #reportAsked(member: MemberName | undefined, result: QuestionResult, startedAt: Instant): void {
    if (member === undefined) return;
    const { session, mover } = this.#parts;
    const durationMs = mover.clock.now() - startedAt;
    mover.report({ kind: 'session_asked', pool: session.pool, session: session.id, member, result, durationMs });
  }

  #report(outcome: Outcome): void {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const run of listeners) run(outcome);
  }
}

/** A pattern of `moves.roles` names the role. */
function isConfigured(policy: MovesPolicy | undefined, role: string): boolean {
  return policy?.roles.some((pattern) => matchesWildcard(role, pattern)) === true;
}

function pinned(reason: PinReason, detail?: string): PinnedAs {
  return { kind: 'pinned', reason, ...(detail !== undefined && { detail }) };
}

// Moves one session: has its server asked for its state and the session parked, and has it go on at its next server. It
// decides nothing about servers: the session travels when its turn has come (`travelling.ts`). Each step begins between
// two transactions, and whatever is unknown leaves the session where it is, or ends it.
import type { Socket } from 'node:net';
import type { Shown } from '../../core/caught-up.ts';
import { movability, movabilityBefore } from '../../core/movable.ts';
import type { MoveFacts } from '../../core/movable.ts';
import type { CloseReason, EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability, PinReason, WalReport } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import type { QuestionResult } from '../../reports/move-events.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { SessionState } from '../../reports/session-state.ts';
import { asStepOf } from '../fault.ts';
import type { Faulty } from '../fault.ts';
import type { Assignment, Movable, Outcome, Progress } from '../stage.ts';
import { roleOf, startupParameters } from '../../wire/startup/startup.ts';
import { CANCELED, STATEMENT_LIMIT_MS } from '../../wire/talk/pipeline.ts';
import { joined } from '../../wire/messages/server-messages.ts';
import type { StateAnswer } from '../../wire/talk/session-question.ts';
import { AfterSync } from './after-sync.ts';
import { Continuity } from './continuity.ts';
import { Interposed } from './interposed.ts';
import { MoveRecord } from './move-record.ts';
import type { Mover } from './mover.ts';
import { Travelling } from './travelling.ts';
import type { Arrival, Departure, ServerLoss } from './travelling.ts';

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

export interface MoverSessionInputs {
  readonly host: MovingHost;
  readonly client: Socket;
  /** Has the client's address, without its port. */
  readonly record: { address(): string };
  /** The startup packet as it was forwarded. */
  readonly packet: Uint8Array;
  readonly mover: Mover;
}

type PinnedAs = Extract<Movability, { kind: 'pinned' }>;

/** Of a session that was never asked and never moved. */
const NO_MOVES = new MoveRecord();

/** More cancel requests in a row are no accident: somebody ends the question on purpose. */
const MOST_CANCELED = 5;

export class SessionMover implements Movable {
  readonly #inputs: MoverSessionInputs;
  /** For the relay. */
  readonly interposed: Interposed;
  /** Undefined: the session ends when its server is lost without warning. */
  readonly #continuity: Continuity | undefined;
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

  constructor(inputs: MoverSessionInputs) {
    const { mover, packet } = inputs;
    this.#inputs = inputs;
    this.interposed = new Interposed(mover, mover.isRoleConfigured(roleOf(packet)));
    const wal = mover.lossEvidence();
    this.#continuity = wal && new Continuity(wal, inputs, this);
  }

  request(cause: EvictionCause, onProgress: (progress: Progress) => void): void {
    if (this.#end !== undefined) return onProgress(this.#end);
    const listeners = (this.#listeners ??= []);
    listeners.push(onProgress);
    if (this.#travelling !== undefined) return onProgress({ kind: 'parked' });
    if (listeners.length > 1) return undefined;
    return this.ask((found, state) => {
      if (found.kind === 'pinned') this.#stays(cause, found);
      else if (state !== undefined) this.#park(cause, state);
    });
  }

  requestWhenIdle(cause: EvictionCause, limitMs: number, onProgress: (progress: Progress) => void): void {
    const { host, mover } = this.#inputs;
    if (host.isIdle() || host.state !== 'relaying') return this.request(cause, onProgress);
    const waiting = (this.#whenIdle ??= new Set());
    const go = (): void => {
      waiting.delete(go);
      stopListening();
      cancelLimit();
      this.request(cause, onProgress);
    };
    const stopListening = host.onIdle(go);
    const cancelLimit = mover.clock.schedule(limitMs, go);
    waiting.add(go);
    return undefined;
  }

  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void {
    asStepOf(this.#inputs.host, () => this.#ask(onAnswer));
  }

  #ask(onAnswer: (found: Movability, state?: CarriedState) => void, canceled = 0): void {
    const { host, mover } = this.#inputs;
    if (this.#end !== undefined) return undefined;
    const session = this.interposed.session();
    const facts = this.#facts();
    const before = movabilityBefore(facts);
    if (before.kind === 'pinned') return onAnswer(before);
    if (session === undefined || !host.isIdle() || !session.isWhole()) return onAnswer(pinned('busy'));
    if (this.interposed.isAsking(() => this.ask(onAnswer))) return undefined;
    if (this.interposed.isLate()) return onAnswer(pinned('question_failed', 'an earlier question has no answer yet'));
    const startedAt = mover.clock.now();
    const member = this.#member();
    const database = startupParameters(this.#inputs.packet).get('database') ?? facts.loginRole;
    const { serverMajor } = this.interposed.login();
    const question = mover.question(serverMajor, database, this.interposed.memory);
    return this.interposed.ask(session.endBatch() ? new AfterSync(question) : question, (result) => {
      // A late cancel request of the client or of an administrator has hit it. Its own limit would take longer.
      const isHit = result?.kind === 'failed' && result.sqlState === CANCELED && canceled < MOST_CANCELED;
      if (isHit && mover.clock.now() - startedAt < STATEMENT_LIMIT_MS) return this.#ask(onAnswer, canceled + 1);
      if (result?.kind === 'answered') mover.learn(database, result.state);
      // A reload may have changed what the session may do.
      const found = this.#judged(result);
      (this.#record ??= new MoveRecord()).answered(found, mover.clock.now());
      this.#reportAsked(member, result?.kind === 'answered' ? found.kind : 'failed', startedAt);
      onAnswer(found, result?.kind === 'answered' ? result.state : undefined);
      // After a FATAL error the server closes by itself. Bytes that are no protocol must not reach the client.
      if (result?.kind === 'over' && session.isWhole() && !session.isFatal()) host.cut('backend_closed', result.why);
    });
  }

  lose(): boolean {
    let isLost = false;
    asStepOf(this.#inputs.host, () => (isLost = this.#continuity?.lose() === true));
    return isLost;
  }

  /** Its next server is no longer open. */
  reroute(): void {
    if (this.#inputs.host.state === 'moving') this.#travelling?.waitAgain(0);
  }

  /** The session ends: synchronous with its transition. Idempotent. */
  ended(reason: CloseReason, detail: string | undefined): void {
    const travelling = this.#travelling;
    if (this.#inputs.host.state === 'closing') this.#beforeEnd ??= movabilityBefore(this.#facts());
    this.#end ??= { kind: 'failed', reason, detail };
    this.#travelling = undefined;
    travelling?.end();
    if (travelling !== undefined) this.#inputs.mover.arrived(travelling);
    this.interposed.end();
    this.#continuity?.stop();
    for (const go of this.#whenIdle ?? []) go();
    this.#report(this.#end);
  }

  quietSince(): Instant {
    return this.interposed.quietSince();
  }

  shown(): SessionMoves {
    const before = this.#beforeEnd ?? movabilityBefore(this.#facts());
    return (this.#record ?? NO_MOVES).shown(before, this.#travelling);
  }

  /** With what its server has told since then, such as another `TimeZone` after a reload. */
  mayStillMove(state: CarriedState): boolean {
    return movability(this.#facts(), state).kind === 'movable';
  }

  /** The session leaves its server. False: it has ended. */
  depart(departure: Departure): boolean {
    const relayed = this.interposed.session();
    if (relayed === undefined) return false;
    const travelling = new Travelling({
      ...this.#inputs,
      departure,
      interposed: this.interposed,
      relayed,
      onArrived: (arrival) => this.#goOn(travelling, arrival),
      onMeant: (loss) => this.#giveBack(travelling, loss),
    });
    if (!travelling.park()) return false;
    this.#travelling = travelling;
    travelling.begin();
    return true;
  }

  #member(): MemberName | undefined {
    return this.#inputs.host.assignment()?.member;
  }

  /** For the decision whether it can move, as far as its server need not be asked. */
  #facts(): MoveFacts {
    const { mover, packet } = this.#inputs;
    const { interposed } = this;
    const loginRole = roleOf(packet);
    return {
      isReadable: interposed.session()?.activity() !== undefined,
      isReplication: startupParameters(packet).has('replication'),
      isRoleConfigured: mover.isRoleConfigured(loginRole),
      loginFault: interposed.isLoggingIn() ? undefined : mover.verifiers.loginFault(interposed.login().login),
      ...interposed.memory.facts(),
      areSettingsListed: mover.areSettingsListed(),
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

  /** To be called synchronously with the answer of its server. A text: no other server can be compared with it. */
  #position(wal: WalReport | undefined): Shown | string {
    const { host, mover } = this.#inputs;
    const at = host.assignment();
    return at === undefined ? 'its server is not known' : mover.freshness(host.pool).shown(at.member, wal, at.address);
  }

  #stays(cause: EvictionCause, { reason, detail }: PinnedAs): void {
    const { id, pool } = this.#inputs.host;
    const member = this.#member();
    if (member !== undefined) {
      this.#inputs.mover.report({ kind: 'session_stayed', pool, session: id, member, cause, reason, detail });
    }
    this.#report({ kind: 'stayed', reason, detail });
  }

  /** Synchronous with the last byte of the answer: no byte of the client has gone to the server since the question. */
  #park(cause: EvictionCause, state: CarriedState): void {
    const { host } = this.#inputs;
    const session = this.interposed.session();
    const from = this.#member();
    if (session === undefined || from === undefined || !session.isWhole() || !host.isIdle()) {
      return this.#stays(cause, pinned('busy'));
    }
    const shown = this.#position(state.wal);
    if (typeof shown === 'string') return this.#stays(cause, pinned('unknown_position', shown));
    if (!this.depart({ from, cause, state, shown })) return undefined;
    return this.#listeners?.forEach((run) => run({ kind: 'parked' }));
  }

  #goOn(travelling: Travelling, { target, backend, login, startedAt }: Arrival): void {
    const { mover } = this.#inputs;
    const { memory } = this.interposed;
    const { state, from, cause } = travelling.departure;
    const wasWaiting = travelling.isWaiting();
    const { bytes: opening, hasEnded: hasClientEnded } = travelling.end();
    this.#travelling = undefined;
    memory.carries(login.isUnnamedRefused ? { ...state, unnamed: 'refused' } : state);
    const news = joined([memory.news(login.parameters), login.rest]);
    const { member: to } = target;
    this.interposed.session()?.resume({ backend, server: target, key: login.key, news, opening, hasClientEnded });
    const now = mover.clock.now();
    (this.#record ??= new MoveRecord()).moved(travelling, to, now);
    this.#continuity?.resumed();
    const { id: session, pool, parkedAt } = travelling;
    const [gapMs, loginMs] = [now - parkedAt, now - startedAt];
    mover.report({ kind: 'session_moved', pool, session, from, to, cause, gapMs, loginMs, wasWaiting });
    mover.arrived(travelling);
    this.#report({ kind: 'moved', to });
  }

  /** Its server meant it alone: it does not move, and its client reads the last words. */
  #giveBack(travelling: Travelling, { ending, words }: ServerLoss): void {
    this.#travelling = undefined;
    travelling.end();
    this.interposed.session()?.giveBack(ending, words);
  }

  #reportAsked(member: MemberName | undefined, result: QuestionResult, startedAt: Instant): void {
    if (member === undefined) return;
    const { host, mover } = this.#inputs;
    const durationMs = mover.clock.now() - startedAt;
    mover.report({ kind: 'session_asked', pool: host.pool, session: host.id, member, result, durationMs });
  }

  #report(outcome: Outcome): void {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const run of listeners) run(outcome);
  }
}

function pinned(reason: PinReason, detail?: string): PinnedAs {
  return { kind: 'pinned', reason, ...(detail !== undefined && { detail }) };
}

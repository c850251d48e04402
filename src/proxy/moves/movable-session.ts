// A session that may move: it is asked for its state and parked, and goes on at its next server. It decides nothing
// about servers: the mover has it move when its turn has come (`own-journey.ts`). Each step begins between two
// transactions, and whatever is unknown leaves the session where it is, or ends it.
import { movability, movabilityBefore } from '../../core/movable.ts';
import type { CloseReason, EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import { asStepOf } from '../fault.ts';
import type { RelayedSession } from '../relay/relayed-session.ts';
import { startupParameters } from '../../wire/startup/startup.ts';
import { CANCELED, STATEMENT_LIMIT_MS } from '../../wire/talk/pipeline.ts';
import { joined } from '../../wire/messages/server-messages.ts';
import { AfterSync } from './after-sync.ts';
import { judged, pinned } from './findings.ts';
import type { PinnedAs } from './findings.ts';
import { Interposed } from './interposed.ts';
import type { Asked } from './movable.ts';
import type { Movable, Outcome, Progress } from '../stage.ts';
import { factsOf, roleOf } from './move-facts.ts';
import { MoveRecord } from './move-record.ts';
import type { MovableInputs } from './moving-host.ts';
import { OwnJourney } from './own-journey.ts';
import type { Arrival, Departure } from './own-journey.ts';
import { UntilIdle } from './until-idle.ts';
import type { Losable, WithoutWarning } from './without-warning.ts';

/** Of a session that was never asked and never moved. */
const NO_MOVES = new MoveRecord();

/** More cancel requests in a row are no accident: somebody ends the question on purpose. */
const MOST_CANCELED = 5;

const nothing = (): void => {};

export class MovableSession implements Movable, Asked, Losable {
  readonly #inputs: MovableInputs;
  /** For the relay. */
  readonly interposed: Interposed;
  /** Undefined: it ends when its server is lost without warning. */
  readonly #beside: WithoutWarning | undefined;
  #journey: OwnJourney | undefined;
  // Most sessions are never asked to move, and need none of these.
  /** Called with the progress of the move that is under way. */
  #listeners: ((progress: Progress) => void)[] | undefined;
  #record: MoveRecord | undefined;
  #untilIdle: UntilIdle | undefined;
  /** How the session has ended. */
  #end: Extract<Outcome, { kind: 'failed' }> | undefined;
  /** Known without a question at its end, which overwrites its login. */
  #beforeEnd: Movability | undefined;

  constructor(inputs: MovableInputs) {
    this.#inputs = inputs;
    const keepsLogin = inputs.mover.isRoleConfigured(roleOf(inputs.packet));
    this.interposed = new Interposed(inputs.mover, keepsLogin);
    this.#beside = inputs.mover.beside(inputs, this);
  }

  get id(): number {
    return this.#inputs.host.id;
  }

  get pool(): PoolName {
    return this.#inputs.host.pool;
  }

  address(): Address | undefined {
    return this.#inputs.host.assignment()?.address;
  }

  member(): MemberName | undefined {
    return this.#inputs.host.assignment()?.member;
  }

  request(cause: EvictionCause, onProgress: (progress: Progress) => void): void {
    if (this.#end !== undefined) return onProgress(this.#end);
    const listeners = (this.#listeners ??= []);
    listeners.push(onProgress);
    if (this.#journey !== undefined) return onProgress({ kind: 'parked' });
    if (listeners.length > 1) return undefined;
    return this.ask((found, state) => {
      if (found.kind === 'pinned') this.#stays(cause, found);
      else if (state !== undefined) this.#park(cause, state);
    });
  }

  requestWhenIdle(cause: EvictionCause, limitMs: number, onProgress: (progress: Progress) => void): void {
    const { host, mover } = this.#inputs;
    if (host.isIdle() || host.state !== 'relaying') return this.request(cause, onProgress);
    this.#untilIdle ??= new UntilIdle(host, mover.clock);
    return this.#untilIdle.add(limitMs, () => this.request(cause, onProgress));
  }

  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void {
    asStepOf(this.#inputs.host, () => this.#ask(onAnswer));
  }

  #ask(onAnswer: (found: Movability, state?: CarriedState) => void, canceled = 0): void {
    const { host, mover } = this.#inputs;
    if (this.#end !== undefined) return undefined;
    const session = this.interposed.session();
    const facts = factsOf(this.#inputs, this.interposed);
    const before = movabilityBefore(facts);
    if (before.kind === 'pinned') return onAnswer(before);
    if (session === undefined || !host.isIdle() || !session.isWhole()) return onAnswer(pinned('busy'));
    if (this.interposed.isAsking(() => this.ask(onAnswer))) return undefined;
    if (this.interposed.isLate()) return onAnswer(pinned('question_failed', 'an earlier question has no answer yet'));
    const startedAt = mover.clock.now();
    const member = this.member();
    const database = startupParameters(this.#inputs.packet).get('database') ?? facts.loginRole;
    const { serverMajor } = this.interposed.login();
    const question = mover.question(serverMajor, database, this.interposed.memory);
    return this.interposed.ask(session.endBatch() ? new AfterSync(question) : question, (result) => {
      // A late cancel request of the client or of an administrator has hit it. Its own limit would take longer.
      const isHit = result?.kind === 'failed' && result.sqlState === CANCELED && canceled < MOST_CANCELED;
      if (isHit && mover.clock.now() - startedAt < STATEMENT_LIMIT_MS) return this.#ask(onAnswer, canceled + 1);
      if (result?.kind === 'answered') mover.answered(database, result.state);
      // A reload may have changed what the session may do.
      const found = judged(factsOf(this.#inputs, this.interposed), result, ({ wal }) => mover.shown(this, wal));
      (this.#record ??= new MoveRecord()).answered(found, mover.clock.now());
      mover.asked(this, member, result?.kind === 'answered' ? found.kind : 'failed', startedAt);
      onAnswer(found, result?.kind === 'answered' ? result.state : undefined);
      // After a FATAL error the server closes by itself. Bytes that are no protocol must not reach the client.
      if (result?.kind === 'over' && session.isWhole() && !session.isFatal()) host.cut('backend_closed', result.why);
    });
  }

  lose(): boolean {
    let isLost = false;
    asStepOf(this.#inputs.host, () => (isLost = this.#beside?.lost() === true));
    return isLost;
  }

  /** Its next server is no longer open. */
  reroute(): void {
    if (this.#inputs.host.state === 'moving') this.#journey?.waitAgain(0);
  }

  /** The session ends: synchronous with its transition. Idempotent. */
  ended(reason: CloseReason, detail: string | undefined): void {
    const journey = this.#journey;
    if (this.#inputs.host.state === 'closing') this.#beforeEnd ??= this.#knownBefore();
    this.#end ??= { kind: 'failed', reason, detail };
    this.endJourney();
    if (journey !== undefined) this.#inputs.mover.ended(journey);
    this.interposed.end();
    this.#beside?.stop();
    this.#untilIdle?.runAll();
    this.#report(this.#end);
  }

  quietSince(): Instant {
    return this.interposed.quietSince();
  }

  shown(): SessionMoves {
    return (this.#record ?? NO_MOVES).shown(this.#beforeEnd ?? this.#knownBefore(), this.#journey);
  }

  #knownBefore(): Movability {
    return movabilityBefore(factsOf(this.#inputs, this.interposed));
  }

  #stays(cause: EvictionCause, { reason, detail }: PinnedAs): void {
    this.#inputs.mover.stayed(this, cause, reason, detail);
    this.#report({ kind: 'stayed', reason, detail });
  }

  /** Synchronous with the last byte of the answer: no byte of the client has gone to the server since the question. */
  #park(cause: EvictionCause, state: CarriedState): void {
    const { host, mover } = this.#inputs;
    const session = this.interposed.session();
    const from = this.member();
    if (session === undefined || from === undefined || !session.isWhole() || !host.isIdle()) {
      return this.#stays(cause, pinned('busy'));
    }
    const shown = mover.shown(this, state.wal);
    if (typeof shown === 'string') return this.#stays(cause, pinned('unknown_position', shown));
    if (!this.#depart(session, { from, cause, state, shown }, nothing)) return undefined;
    this.setOut();
    return this.#listeners?.forEach((run) => run({ kind: 'parked' }));
  }

  /** It is parked, and waits for its turn. */
  setOut(): void {
    if (this.#journey !== undefined) this.#inputs.mover.parked(this.#journey);
  }

  mayStillMove(state: CarriedState): boolean {
    return movability(factsOf(this.#inputs, this.interposed), state).kind === 'movable';
  }

  /** Its server is gone, or has ended it. It does not move before `setOut`. */
  parkLost(from: MemberName, state: CarriedState, onLeft: () => void): boolean {
    const session = this.interposed.session();
    return session !== undefined && this.#depart(session, { from, cause: 'dead', state, shown: undefined }, onLeft);
  }

  /** The client's socket is the caller's. */
  endJourney(): void {
    this.#journey?.end();
    this.#journey = undefined;
  }

  /** The session leaves its server. `onLeft`: it is no longer parked. False: it has ended. */
  #depart(session: RelayedSession, departure: Departure, onLeft: () => void): boolean {
    const { host, mover } = this.#inputs;
    const leave = (): void => {
      onLeft();
      if (this.#journey !== undefined) mover.turns.left(this.#journey);
    };
    if (!host.enter('park', leave)) return false;
    // The next server has read nothing of it.
    session.endBatch();
    const journey = new OwnJourney({
      ...this.#inputs,
      departure,
      interposed: this.interposed,
      beside: this.#beside,
      waiting: session.park(
        (chunk) => this.#journey?.take(chunk),
        () => asStepOf(host, () => this.#journey?.cancel()),
      ),
      onArrived: (arrival) => this.#goOn(session, journey, arrival),
    });
    this.#journey = journey;
    return true;
  }

  #goOn(session: RelayedSession, journey: OwnJourney, { target, backend, login, startedAt }: Arrival): void {
    const { mover } = this.#inputs;
    const { memory } = this.interposed;
    const wasWaiting = journey.isWaiting();
    const { bytes: opening, hasEnded: hasClientEnded } = journey.end();
    this.#journey = undefined;
    memory.carries(login.isUnnamedRefused ? { ...journey.state, unnamed: 'refused' } : journey.state);
    const news = joined([memory.news(login.parameters), login.rest]);
    session.resume({ backend, server: target, key: login.key, news, opening, hasClientEnded });
    (this.#record ??= new MoveRecord()).moved(journey, target.member, mover.clock.now());
    this.#beside?.resumed();
    mover.moved(journey, { to: target.member, startedAt, wasWaiting });
    this.#report({ kind: 'moved', to: target.member });
  }

  #report(outcome: Outcome): void {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const run of listeners) run(outcome);
  }
}

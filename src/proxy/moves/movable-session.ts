// A session that may move: it is asked for its state, parked, and logged in at its next server. It decides nothing
// about servers: the mover has it move when its turn has come. Each step begins between two transactions, and whatever
// is unknown leaves the session where it is, or ends it.
import type { Socket } from 'node:net';
import { movabilityBefore } from '../../core/movable.ts';
import type { CloseReason, EvictionCause } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import type { Target } from '../../core/routing-table.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { RelayedSession } from '../relay/relayed-session.ts';
import { startupParameters } from '../../wire/startup.ts';
import { joined } from '../../wire/server-messages.ts';
import { sayGoodbye } from '../ending/linger.ts';
import { judged, pinned } from './findings.ts';
import type { PinnedAs } from './findings.ts';
import { Interposed } from './interposed.ts';
import { logInAgain } from './log-in-again.ts';
import type { LoggedIn, LoginFailure } from './log-in-again.ts';
import type { Movable, Outcome, Progress, Traveller } from './movable.ts';
import { factsOf, roleOf } from './move-facts.ts';
import { MoveRecord } from './move-record.ts';
import type { MovableInputs, OwnJourney } from './moving-host.ts';
import { ParkedClient } from './parked-client.ts';
import { UntilIdle } from './until-idle.ts';
import { tooLateText } from './waits-for.ts';
import type { Losable, Uncovered, WithoutWarning } from './without-warning.ts';

/** The pause before another attempt at a server that is starting, stopping, or full. Milliseconds. */
const RETRY_MS = 250;
/** Of a session that was never asked and never moved. */
const NO_MOVES = new MoveRecord();

const nothing = (): void => {};

export type { MovingHost } from './moving-host.ts';

export class MovableSession implements Movable, Traveller, Losable {
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

  isWaiting(): boolean {
    return this.#journey?.client.isWaiting() === true;
  }

  request(cause: EvictionCause, onProgress: (progress: Progress) => void): void {
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
    const { host, mover } = this.#inputs;
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
    const question = mover.question(serverMajor, database, this.interposed.memory.names());
    return this.interposed.ask(question, (result) => {
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
    return this.#beside?.lost() === true;
  }

  travel(): void {
    const { host, mover, record } = this.#inputs;
    const pool = mover.pool(host.pool);
    const shown = this.#journey?.shown;
    const order = mover.order(host.pool);
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
      session: host.id,
      clientAddress: record.address(),
      pool,
      suits: shown && (({ member }) => order.seemsCaughtUp(shown, member)),
      onAssigned: (assignment) => host.assign(assignment),
      onConnected: (target, backend) => {
        abortLogin = this.#logIn(target, backend, startedAt);
      },
      onRouteAgain: () => this.#waitAgain(0),
      onUnreachable: (pauseMs) => this.#waitAgain(pauseMs),
    });
    return undefined;
  }

  /** Its next server is no longer open. */
  reroute(): void {
    if (this.#inputs.host.state === 'moving') this.#waitAgain(0);
  }

  /** The session ends: synchronous with its transition. Idempotent. */
  ended(reason: CloseReason, detail: string | undefined): void {
    if (this.endJourney()) this.#inputs.mover.ended(this);
    this.interposed.end();
    this.#beside?.stop();
    this.#untilIdle?.runAll();
    this.#report({ kind: 'failed', reason, detail });
  }

  quietSince(): Instant {
    return this.interposed.quietSince();
  }

  shown(): SessionMoves {
    const before = movabilityBefore(factsOf(this.#inputs, this.interposed));
    return (this.#record ?? NO_MOVES).shown(before, this.#journey, this.#waitsFor());
  }

  #waitsFor(): string | undefined {
    return this.#journey && this.#inputs.mover.waitsFor(this, this.#journey);
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
    if (!host.enter('park', () => mover.turns.left(this))) return undefined;
    this.#depart(session, { from, cause, state, shown });
    this.setOut();
    return this.#listeners?.forEach((run) => run({ kind: 'parked' }));
  }

  /** It is parked, and waits for its turn. */
  setOut(): void {
    if (this.#journey !== undefined) this.#inputs.mover.parked(this, this.#journey);
  }

  /** The session has just left its server. */
  #depart(session: RelayedSession, why: Pick<OwnJourney, 'from' | 'cause' | 'state' | 'shown'>): void {
    const { host, mover, client } = this.#inputs;
    const waiting = session.park((chunk) => this.#journey?.client.take(chunk));
    const onLeft = (reason: CloseReason): void => host.cut(reason);
    const limitMs = mover.parkTimeoutMs();
    this.#journey = {
      ...why,
      parkedAt: mover.clock.now(),
      client: new ParkedClient({ client, waiting, onLeft, onWaiting: () => mover.turns.waits(this) }),
      cancelLimit: mover.clock.schedule(limitMs, () => this.#tooLate(limitMs)),
      lastFailure: undefined,
    };
  }

  /** Its server is gone, or has ended it. It does not move before `go`. */
  parkLost(from: MemberName, state: CarriedState, onLeft: () => void): boolean {
    const { host, mover } = this.#inputs;
    const session = this.interposed.session();
    const leave = (): void => {
      onLeft();
      mover.turns.left(this);
    };
    if (session === undefined || !host.enter('park', leave)) return false;
    this.#depart(session, { from, cause: 'dead', state, shown: undefined });
    return true;
  }

  /** True: there was one. The client's socket is the caller's. */
  endJourney(): boolean {
    const journey = this.#journey;
    this.#journey = undefined;
    journey?.cancelLimit();
    journey?.client.release();
    return journey !== undefined;
  }

  #tooLate(limitMs: number): void {
    const reason = this.#beside?.isUncovered() === true ? 'move_uncovered' : 'move_timeout';
    this.#inputs.host.end(reason, tooLateText(limitMs, this.#waitsFor(), this.#journey?.lastFailure));
  }

  #isUncovered(backend: Socket, { why, mayCome }: Uncovered): () => void {
    backend.destroy();
    if (this.#journey !== undefined) this.#journey.lastFailure = why;
    if (mayCome) this.#waitAgain(RETRY_MS);
    else this.#inputs.host.end('move_uncovered', why);
    return nothing;
  }

  #waitAgain(pauseMs: number): void {
    const { host, mover } = this.#inputs;
    if (host.enter('park', () => mover.turns.left(this))) mover.turns.add(this, pauseMs);
  }

  #logIn(target: Target, backend: Socket, startedAt: Instant): () => void {
    const { mover, packet } = this.#inputs;
    const uncovered = this.#beside?.uncoveredAt(target.member);
    if (uncovered !== undefined) return this.#isUncovered(backend, uncovered);
    if (this.#journey === undefined) return () => backend.destroy();
    const { state, shown } = this.#journey;
    const { login, negotiated } = this.interposed.login();
    return logInAgain({
      backend,
      startup: packet,
      login,
      negotiated,
      findVerifier: () => mover.verifiers.find(target, roleOf(packet)),
      state,
      unnamedStatement: this.interposed.memory.unnamed(),
      order: shown && mover.order(this.pool).bind(shown, target.member),
      clock: mover.clock,
      onDone: (loggedIn) => this.#resume(target, backend, loggedIn, startedAt),
      onFailed: (failure) => this.#failed(target, failure),
    });
  }

  #failed({ member }: Target, { reason, detail, isForNow }: LoginFailure): void {
    const { host, mover } = this.#inputs;
    const why = `${member}: ${detail}`;
    if (!isForNow || this.#journey === undefined) return host.end(reason, why);
    this.#journey.lastFailure = why;
    mover.turnedAway(member);
    return this.#waitAgain(RETRY_MS);
  }

  #resume(target: Target, backend: Socket, login: LoggedIn, startedAt: Instant): void {
    const { host, mover, client } = this.#inputs;
    const session = this.interposed.session();
    const journey = this.#journey;
    if (session === undefined || journey === undefined || !mover.isOpen(host.pool, target)) {
      sayGoodbye(backend);
      return this.#waitAgain(0);
    }
    // The `close` event of a client that was reset in this turn of the event loop is still to come.
    if (client.destroyed) host.cut('client_reset');
    if (!host.resumed(target.member)) return void backend.destroy();
    this.#journey = undefined;
    journey.cancelLimit();
    const wasWaiting = journey.client.isWaiting();
    const { bytes: opening, hasEnded: hasClientEnded } = journey.client.release();
    const { memory } = this.interposed;
    memory.carries(journey.state);
    const news = joined([memory.news(login.parameters), login.rest]);
    session.resume({ backend, server: target, key: login.key, news, opening, hasClientEnded });
    (this.#record ??= new MoveRecord()).moved(journey, target.member, mover.clock.now());
    this.#beside?.resumed();
    mover.moved(this, journey, { to: target.member, startedAt, wasWaiting });
    this.#report({ kind: 'moved', to: target.member });
  }

  #report(outcome: Outcome): void {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const run of listeners) run(outcome);
  }
}

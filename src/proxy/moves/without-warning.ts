// A session whose primary may be lost without warning. This keeps what is known of its state, and keeps back the last
// words of a server that stops. When the server ends the session between two transactions, the session is parked, and
// the server is asked whether it lets new sessions in: then it meant this session alone, whose client reads its words.
// Else the session goes on at the next primary, if that one has all that the session was told.
import { coverageOf, proofOf } from '../../core/coverage.ts';
import type { Coverage, Loss, ServerRun } from '../../core/coverage.ts';
import { isOfPrimary } from '../../core/primary-pools.ts';
import type { WalKnown } from '../../core/wal-samples.ts';
import type { BackendEnding, CloseReason } from '../../model/close-reason.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import { openRoute } from '../../core/routing-table.ts';
import type { RoutingTable } from '../../core/routing-table.ts';
import type { Dial } from '../connect/dial.ts';
import type { Assignment } from '../stage.ts';
import type { Interposed, Reader } from './interposed.ts';
import { pinned } from './findings.ts';
import { StatementWatch } from '../../wire/follow/statement-watch.ts';
import { KnownState } from './known-state.ts';
import type { Known, KnownSession } from './known-state.ts';
import { isForAll, LastWords, maybeForOne } from './last-words.ts';
import { letsIn } from './lets-in.ts';
import type { Entrance } from './lets-in.ts';

/** The parts of the proxy that it uses. */
export interface LossServices {
  readonly clock: Clock;
  readonly dial: Dial;
  readonly table: () => RoutingTable;
  readonly freshen: (pool: PoolName, since?: Instant) => Promise<void> | undefined;
  readonly wal: () => WalKnown;
  /** Undefined: it is not configured. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
}

/** The session as a whole. */
interface LossHost {
  readonly pool: PoolName;
  isIdle(): boolean;
  assignment(): Assignment | undefined;
  end(reason: CloseReason, detail?: string): void;
}

export interface LosableInputs {
  readonly host: LossHost;
  readonly packet: Uint8Array;
}

/** The part of the session that moves. */
export interface Losable {
  readonly interposed: Interposed;
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void;
  /** With what its server has told since then, such as another `TimeZone` after a reload. */
  mayStillMove(state: CarriedState): boolean;
  /** Parks the session, which does not move yet. `onLeft`: it is no longer parked. False: it has ended. */
  parkLost(from: MemberName, state: CarriedState, onLeft: () => void): boolean;
  /** The parked session is to move. */
  setOut(): void;
  /** The parked session does not move. */
  endJourney(): void;
}

export type Uncovered = Extract<Coverage, { kind: 'uncovered' }>;

/** A server closes right after its last words. Milliseconds. */
const CLOSES_WITHIN_MS = 5_000;

const nothing = (): void => {};

export class WithoutWarning implements Reader, KnownSession {
  readonly #services: LossServices;
  readonly #inputs: LosableInputs;
  readonly #session: Losable;
  readonly watch = new StatementWatch();
  readonly #known: KnownState;
  readonly #words = new LastWords();
  /** While last words are kept back, the client's bytes wait. */
  #keeping: { readonly wait: Promise<void>; readonly end: () => void } | undefined;

  /** Since the server was lost. */
  #loss: Loss | undefined;
  #isUncovered = false;

  constructor(services: LossServices, inputs: LosableInputs, session: Losable) {
    this.#services = services;
    this.#inputs = inputs;
    this.#session = session;
    this.#known = new KnownState(this);
    session.interposed.readAlong(this);
    session.interposed.memory.watch = this.watch;
  }

  wait(): Promise<void> | undefined {
    return this.#keeping?.wait;
  }

  fromServer(chunk: Uint8Array): Uint8Array | undefined {
    const isLast = this.#keeping !== undefined || this.#inputs.host.isIdle();
    const passing = isLast ? this.#words.take(chunk) : chunk;
    if (passing === undefined) {
      this.#keep();
      return undefined;
    }
    this.#known.hears();
    this.#keeping?.end();
    return passing;
  }

  saidMeanwhile(): void {
    this.#known.hears();
  }

  /** Undefined: the session may go on at the member, which has all that the session was told. */
  uncoveredAt(member: MemberName): Uncovered | undefined {
    if (this.#loss === undefined) return undefined;
    const { samples, ends } = this.#services.wal();
    const coverage = coverageOf(this.#loss, { member, sample: samples.get(member)?.[0] }, ends);
    this.#isUncovered = coverage.kind === 'uncovered';
    return coverage.kind === 'uncovered' ? coverage : undefined;
  }

  /** By the latest answer. */
  isUncovered(): boolean {
    return this.#isUncovered;
  }

  /** The session has moved. */
  resumed(): void {
    this.#loss = undefined;
    this.#isUncovered = false;
    this.#known.reset();
  }

  /** The session is over. */
  stop(): void {
    this.#known.stop();
    this.#words.release();
    this.#keeping?.end();
  }

  serverEnded(ending: BackendEnding): boolean {
    const { interposed } = this.#session;
    const known = this.#known.known();
    const words = this.#words.release();
    this.#keeping?.end();
    if (interposed.isAsking(nothing) || interposed.isLate()) return false;
    if (known !== undefined && this.#isLost(known, ending, words)) return true;
    if (words !== undefined) interposed.session()?.passToClient(words);
    return words === undefined && this.#isInFlight();
  }

  /** The server is gone by all evidence, before its connection has ended. True: the session is parked. */
  lost(): boolean {
    const { interposed } = this.#session;
    const known = this.#known.known();
    if (known === undefined || interposed.isAsking(nothing) || interposed.isLate()) return false;
    const words = this.#words.release();
    this.#keeping?.end();
    return this.#isLost(known, 'backend_reset', words);
  }

  // KnownSession

  get clock(): Clock {
    return this.#services.clock;
  }

  isIdle(): boolean {
    return this.#inputs.host.isIdle();
  }

  member(): MemberName | undefined {
    return this.#inputs.host.assignment()?.member;
  }

  runOf(member: MemberName): ServerRun | undefined {
    return this.#services.wal().samples.get(member)?.[0]?.run;
  }

  /** A session that is not on a primary ends with its server, so nobody asks for its state in advance. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void {
    const pool = this.#services.pool(this.#inputs.host.pool);
    if (pool !== undefined && isOfPrimary(pool)) this.#session.ask(onAnswer);
    else onAnswer(pinned('unknown_position'));
  }

  #keep(): void {
    if (this.#keeping !== undefined) return;
    const { promise: wait, resolve } = Promise.withResolvers<void>();
    const pass = (): void => {
      this.#keeping?.end();
      const words = this.#words.release();
      if (words !== undefined) this.#session.interposed.session()?.passToClient(words);
    };
    const cancel = this.clock.schedule(CLOSES_WITHIN_MS, pass);
    const end = (): void => {
      this.#keeping = undefined;
      cancel();
      resolve();
    };
    this.#keeping = { wait, end };
  }

  /** The server has said nothing about a statement that was in progress. */
  #isInFlight(): boolean {
    const { host } = this.#inputs;
    const session = this.#session.interposed.session();
    if (session?.activity() !== 'busy' || session.isFatal()) return false;
    const member = host.assignment()?.member ?? 'the server';
    host.end('move_in_flight', `${member}: connection closed by the server without an error message`);
    return true;
  }

  /** Only a primary reports the positions that prove it. */
  #isLost({ state, told }: Known, ending: BackendEnding, words: Uint8Array | undefined): boolean {
    const { host } = this.#inputs;
    const { pool, wal, clock } = this.#services;
    const session = this.#session;
    const at = host.assignment();
    const policy = pool(host.pool);
    if (at === undefined || policy === undefined || !isOfPrimary(policy)) return false;
    if (!host.isIdle() || told.member !== at.member || !session.mayStillMove(state)) return false;
    const proof = proofOf(told, wal().samples.get(told.member) ?? []);
    this.#loss = { told, proof, at: clock.now() };
    let cancel = nothing;
    if (!session.parkLost(told.member, state, () => cancel())) return true;
    if ((words !== undefined && isForAll(words)) || this.#isGone(at, policy.name)) {
      session.setOut();
      return true;
    }
    cancel = this.#findOut(at, policy.name, words, (isAlone) => {
      if (!isAlone) return session.setOut();
      session.endJourney();
      return session.interposed.session()?.giveBack(ending, words);
    });
    return true;
  }

  /**
   * Whether the server has ended this session alone. Returns the cancel function. Words that an administrator's
   * decision may be behind are taken back only for what proves that the server stopped.
   */
  #findOut(
    at: Assignment,
    pool: PoolName,
    words: Uint8Array | undefined,
    onAnswer: (isAlone: boolean) => void,
  ): () => void {
    const { packet } = this.#inputs;
    const { dial, clock, freshen } = this.#services;
    const since = clock.now();
    let isCancelled = false;
    // Its API is asked as well: a primary that was demoted lets sessions in, too.
    const askApi = async (entrance: Entrance): Promise<void> => {
      await freshen(pool, since);
      if (isCancelled) return;
      const isMeant = words !== undefined && maybeForOne(words);
      onAnswer(isMeant ? !this.#isGone(at, pool) : entrance === 'open' && this.#isOpen(at, pool));
    };
    const abort = letsIn({ address: at.address, packet, dial, clock }, (entrance) => {
      if (entrance === 'closed') onAnswer(false);
      else void askApi(entrance);
    });
    return () => {
      isCancelled = true;
      abort();
    };
  }

  #isOpen({ member }: Assignment, pool: PoolName): boolean {
    return openRoute(this.#services.table(), pool)?.targets.some((target) => target.member === member) === true;
  }

  /** By an answer: silence may end as well. A server that its API calls stopping ends all of its sessions. */
  #isGone({ member }: Assignment, pool: PoolName): boolean {
    const standing = this.#services.table().pools.get(pool)?.standings.get(member);
    if (standing?.kind === 'keep') return standing.why.code === 'not_running';
    return standing?.kind === 'leave' && (standing.cause === 'demoted' || standing.cause === 'dead');
  }
}

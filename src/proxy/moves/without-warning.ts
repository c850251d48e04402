// A session whose primary may be lost without warning. This keeps what is known of its state, and keeps back the last
// words of a server that stops. When the server ends the session between two transactions, the session is parked, and
// the server is asked whether it lets new sessions in: then it meant this session alone, whose client reads its words.
// Else the session goes on at the next primary, if that one has all that the session was told.
import { coverageOf, proofOf } from '../../core/coverage.ts';
import type { Coverage, Loss } from '../../core/coverage.ts';
import type { WalKnown } from '../../core/wal-samples.ts';
import type { BackendEnding, CloseReason } from '../../model/close-reason.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import { openRoute } from '../../core/routing-table.ts';
import type { RoutingTable } from '../../core/routing-table.ts';
import type { Dial } from '../connect/dial.ts';
import type { Assignment } from '../session-registry.ts';
import type { Interposed, Reader } from './interposed.ts';
import { KnownState } from './known-state.ts';
import type { Known } from './known-state.ts';
import { LastWords } from './last-words.ts';
import { letsIn } from './lets-in.ts';

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

export interface WithoutWarningInputs extends LossServices {
  readonly host: LossHost;
  readonly packet: Uint8Array;
  readonly interposed: Interposed;
  readonly ask: (onAnswer: (found: Movability, state?: CarriedState) => void) => void;
  /** Parks the session, which does not move yet. `onLeft`: it is no longer parked. False: it has ended. */
  readonly park: (from: MemberName, state: CarriedState, onLeft: () => void) => boolean;
  /** The parked session is to move. */
  readonly go: () => void;
  /** The parked session does not move. */
  readonly takeBack: () => void;
}

export type Uncovered = Extract<Coverage, { kind: 'uncovered' }>;

/** A server closes right after its last words. Milliseconds. */
const CLOSES_WITHIN_MS = 5_000;

const nothing = (): void => {};

export class WithoutWarning implements Reader {
  readonly #inputs: WithoutWarningInputs;
  readonly #known: KnownState;
  readonly #words = new LastWords();
  /** While last words are kept back, the client's bytes wait. */
  #keeping: { readonly wait: Promise<void>; readonly end: () => void } | undefined;

  /** Since the server was lost. */
  #loss: Loss | undefined;
  #isUncovered = false;

  constructor(inputs: WithoutWarningInputs) {
    const { clock, host, ask, wal, interposed } = inputs;
    this.#inputs = inputs;
    this.#known = new KnownState({
      clock,
      isIdle: () => host.isIdle(),
      member: () => host.assignment()?.member,
      runOf: (member) => wal().samples.get(member)?.[0]?.run,
      ask,
    });
    interposed.readAlong(this);
  }

  wait(): Promise<void> | undefined {
    return this.#keeping?.wait;
  }

  fromClient(chunk: Uint8Array): void {
    this.#known.fromClient(chunk);
  }

  fromServer(chunk: Uint8Array): Uint8Array | undefined {
    const isLast = this.#keeping !== undefined || this.#inputs.host.isIdle();
    const passing = isLast ? this.#words.take(chunk) : chunk;
    if (passing === undefined) {
      this.#keep();
      return undefined;
    }
    this.#known.fromServer(passing);
    this.#keeping?.end();
    return passing;
  }

  saidMeanwhile(bytes: Uint8Array): void {
    this.#known.fromServer(bytes);
  }

  /** Undefined: the session may go on at the member, which has all that the session was told. */
  uncoveredAt(member: MemberName): Uncovered | undefined {
    if (this.#loss === undefined) return undefined;
    const { samples, ends } = this.#inputs.wal();
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
    const { interposed } = this.#inputs;
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
    const { interposed } = this.#inputs;
    const known = this.#known.known();
    if (known === undefined || interposed.isAsking(nothing) || interposed.isLate()) return false;
    const words = this.#words.release();
    this.#keeping?.end();
    return this.#isLost(known, 'backend_reset', words);
  }

  #keep(): void {
    if (this.#keeping !== undefined) return;
    const { promise: wait, resolve } = Promise.withResolvers<void>();
    const pass = (): void => {
      this.#keeping?.end();
      const words = this.#words.release();
      if (words !== undefined) this.#inputs.interposed.session()?.passToClient(words);
    };
    const cancel = this.#inputs.clock.schedule(CLOSES_WITHIN_MS, pass);
    const end = (): void => {
      this.#keeping = undefined;
      cancel();
      resolve();
    };
    this.#keeping = { wait, end };
  }

  /** The server has said nothing about a statement that was in progress. */
  #isInFlight(): boolean {
    const { host, interposed } = this.#inputs;
    const session = interposed.session();
    if (session?.activity() !== 'busy' || session.isFatal()) return false;
    const member = host.assignment()?.member ?? 'the server';
    host.end('move_in_flight', `${member}: connection closed by the server without an error message`);
    return true;
  }

  /** Only a primary reports the positions that prove it. */
  #isLost({ state, told }: Known, ending: BackendEnding, words: Uint8Array | undefined): boolean {
    const { host, pool, wal, clock, park, go, takeBack, interposed } = this.#inputs;
    const at = host.assignment();
    const policy = pool(host.pool);
    if (at === undefined || policy?.exclusive !== true || policy.check.family !== 'primary') return false;
    if (!host.isIdle() || told.member !== at.member) return false;
    const proof = proofOf(told, wal().samples.get(told.member) ?? []);
    this.#loss = { told, proof, at: clock.now() };
    let cancel = nothing;
    if (!park(told.member, state, () => cancel())) return true;
    cancel = this.#findOut(at, policy.name, clock.now(), (isAlone) => {
      if (!isAlone) return go();
      takeBack();
      return interposed.session()?.giveBack(ending, words);
    });
    return true;
  }

  /** Whether the server, asked now, goes on as the primary without this session. Returns the cancel function. */
  #findOut(at: Assignment, pool: PoolName, since: Instant, onAnswer: (isAlone: boolean) => void): () => void {
    const { packet, dial, clock, freshen, table } = this.#inputs;
    let isCancelled = false;
    // Its API is asked as well: a primary that was demoted lets sessions in, too.
    const askApi = async (): Promise<void> => {
      await freshen(pool, since);
      const isOpen = openRoute(table(), pool)?.targets.some(({ member }) => member === at.member) === true;
      if (!isCancelled) onAnswer(isOpen);
    };
    const abort = letsIn({ address: at.address, packet, dial, clock }, (isIn) => {
      if (isIn) void askApi();
      else onAnswer(false);
    });
    return () => {
      isCancelled = true;
      abort();
    };
  }
}

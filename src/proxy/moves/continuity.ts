// Keeps a session able to go on when its primary is lost without warning: what is known of its state, and the last
// words of a server that stops, which are kept back. When the server ends the session between two transactions, the
// session is parked, and goes on at the next primary if that one has all that the session was told (`travelling.ts`).
import { proofOf } from '../../core/coverage.ts';
import type { ServerRun } from '../../core/coverage.ts';
import { isOfPrimary } from '../../core/primary-pools.ts';
import type { WalKnown } from '../../core/wal-samples.ts';
import type { BackendEnding } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import { StatementWatch } from '../../wire/follow/statement-watch.ts';
import type { Reader } from './interposed.ts';
import { LastState } from './last-state.ts';
import type { LastAnswer, LastStateInputs } from './last-state.ts';
import { LastWords } from './last-words.ts';
import type { SessionMover, MoverSessionInputs } from './session-mover.ts';

/** A server closes right after its last words. Milliseconds. */
const CLOSES_WITHIN_MS = 5_000;

const nothing = (): void => {};

export class Continuity implements Reader, LastStateInputs {
  readonly clock: Clock;
  readonly watch = new StatementWatch();
  readonly #wal: () => WalKnown;
  readonly #inputs: MoverSessionInputs;
  readonly #session: SessionMover;
  readonly #state: LastState;
  readonly #words = new LastWords();
  /** While last words are kept back, the client's bytes wait. */
  #keeping: { readonly wait: Promise<void>; readonly end: () => void } | undefined;

  constructor(wal: () => WalKnown, inputs: MoverSessionInputs, session: SessionMover) {
    this.clock = inputs.mover.clock;
    this.#wal = wal;
    this.#inputs = inputs;
    this.#session = session;
    this.#state = new LastState(this);
    session.interposed.readAlong(this);
    session.interposed.memory.watch = this.watch;
  }

  wait(): Promise<void> | undefined {
    return this.#keeping?.wait;
  }

  fromServer(chunk: Uint8Array): Uint8Array | undefined {
    const isLast = this.#keeping !== undefined || this.isIdle();
    const passing = isLast ? this.#words.take(chunk) : chunk;
    if (passing === undefined) {
      this.#keep();
      return undefined;
    }
    this.#state.hears();
    this.#keeping?.end();
    return passing;
  }

  saidMeanwhile(): void {
    this.#state.hears();
  }

  /** The session has moved. */
  resumed(): void {
    this.#state.reset();
  }

  /** The session is over. */
  stop(): void {
    this.#state.stop();
    this.#words.release();
    this.#keeping?.end();
  }

  serverEnded(ending: BackendEnding): boolean {
    const { interposed } = this.#session;
    const answer = this.#state.known();
    const words = this.#words.release();
    this.#keeping?.end();
    if (interposed.isAsking(nothing) || interposed.isLate()) return false;
    if (answer !== undefined && this.#leaves(answer, ending, words)) return true;
    if (words !== undefined) interposed.session()?.passToClient(words);
    return words === undefined && this.#endsInFlight();
  }

  /** The server is gone by all evidence, before its connection has ended. True: the session is parked. */
  lose(): boolean {
    const { interposed } = this.#session;
    const answer = this.#state.known();
    if (answer === undefined || interposed.isAsking(nothing) || interposed.isLate()) return false;
    const words = this.#words.release();
    this.#keeping?.end();
    return this.#leaves(answer, 'backend_reset', words);
  }

  // LastStateInputs

  isIdle(): boolean {
    return this.#inputs.host.isIdle();
  }

  member(): MemberName | undefined {
    return this.#inputs.host.assignment()?.member;
  }

  runOf(member: MemberName): ServerRun | undefined {
    return this.#wal().samples.get(member)?.[0]?.run;
  }

  /** A session that is not on a primary ends with its server, so nobody asks for its state in advance. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void {
    if (this.#isOnPrimary()) this.#session.ask(onAnswer);
    else onAnswer({ kind: 'pinned', reason: 'unknown_position' });
  }

  #isOnPrimary(): boolean {
    const { mover, host } = this.#inputs;
    const pool = mover.pool(host.pool);
    return pool !== undefined && isOfPrimary(pool);
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

  /** The server has said nothing about a statement that was in progress. True: the session has ended. */
  #endsInFlight(): boolean {
    const { host } = this.#inputs;
    const session = this.#session.interposed.session();
    if (session?.activity() !== 'busy' || session.isFatal()) return false;
    host.end(
      'move_in_flight',
      `${this.member() ?? 'the server'}: connection closed by the server without an error message`,
    );
    return true;
  }

  /** Only a primary reports the positions that prove it. True: the session has left its server, or has ended. */
  #leaves({ state, told }: LastAnswer, ending: BackendEnding, words: Uint8Array | undefined): boolean {
    const server = this.#inputs.host.assignment();
    if (server === undefined || told.member !== server.member || !this.#isOnPrimary()) return false;
    if (!this.isIdle() || !this.#session.mayStillMove(state)) return false;
    const proof = proofOf(told, this.#wal().samples.get(told.member) ?? []);
    const loss = { told, proof, at: this.clock.now(), server, ending, words };
    this.#session.depart({ from: told.member, cause: 'dead', state, shown: undefined, loss });
    return true;
  }
}

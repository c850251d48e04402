// Keeps a session able to go on when its primary is lost without warning: what is known of its state, and the last
// words of a server that stops, which are kept back. When the server ends the session between two transactions, the
// session is parked, and goes on at the next primary if that one has all that the session was told (`travelling.ts`).
// With `on_stays: abort` so is a session in a transaction that is certainly lost with the server: its client is told.
import { proofOf, type ServerRun } from '../../core/coverage.ts';
import { isOfPrimary } from '../../core/primary-pools.ts';
import type { WalEvidence } from '../../core/wal-samples.ts';
import type { BackendEnding } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import { StatementWatch } from '../../wire/follow/statement-watch.ts';
import { encodeReadyForQuery, joined } from '../../wire/messages/server-messages.ts';
import { abortedTransaction } from '../messages/aborted-transaction.ts';
import { describeEnd } from '../messages/close-message.ts';
import { serverText } from '../server.ts';
import type { Tap } from '../relay/conversation.ts';
import { LastState, type StateReport, type LastStateOptions } from './last-state.ts';
import { LastWords, mayBegin } from './last-words.ts';
import type { QuestionChannel } from './question-channel.ts';
import type { MoveParts } from './move-parts.ts';
import type { AbortedTransaction, Departure } from './departure.ts';

/** A server closes right after its last words. Milliseconds. */
const CLOSES_WITHIN_MS = 5_000;

/** The session that may leave its server. */
interface Departures {
  ask: LastStateOptions['ask'];
  /** With what its server has told since the answer. */
  mayStillMove(state: CarriedState): boolean;
  /** For the client of an open transaction, which has ended: the error, unless the client knows already. */
  endsTransaction(error: Uint8Array, state: CarriedState): AbortedTransaction | undefined;
  depart(departure: Departure): boolean;
}

export class Continuity implements Tap, LastStateOptions {
  readonly clock: Clock;
  readonly watch = new StatementWatch();
  readonly #wal: () => WalEvidence;
  readonly #parts: MoveParts;
  readonly #questions: QuestionChannel;
  readonly #departures: Departures;
  readonly #state: LastState;
  readonly #words = new LastWords();
  /** While last words are kept back, the client's bytes wait. */
  #keeping: { readonly wait: Promise<void>; readonly end: () => void } | undefined;

  constructor(wal: () => WalEvidence, parts: MoveParts, questions: QuestionChannel, departures: Departures) {
    this.clock = parts.mover.clock;
    this.#wal = wal;
    this.#parts = parts;
    this.#questions = questions;
    this.#departures = departures;
    this.#state = new LastState(this);
    questions.onSaidMeanwhile = () => this.#state.hears();
  }

  wait(): Promise<void> | undefined {
    return this.#keeping?.wait;
  }

  fromServer(chunk: Uint8Array): Uint8Array | undefined {
    const isLast = this.#keeping !== undefined || this.isIdle() || (mayBegin(chunk) && this.#known() !== undefined);
    const passing = isLast ? this.#words.take(chunk) : chunk;
    if (passing === undefined) {
      this.#keep();
      return undefined;
    }
    this.#state.hears();
    this.#keeping?.end();
    return passing;
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
    const answer = this.#known();
    const words = this.#words.release();
    this.#keeping?.end();
    if (this.#questions.isAsking()) return false;
    if (answer !== undefined && this.#leaves(answer, ending, words)) return true;
    if (words !== undefined) this.#parts.conversation.passToClient(words);
    return words === undefined && this.#endsInFlight();
  }

  /** The server is gone by all evidence, before its connection has ended. True: the session is parked. */
  lose(): boolean {
    const answer = this.#known();
    if (answer === undefined || this.#questions.isAsking()) return false;
    const words = this.#words.release();
    this.#keeping?.end();
    return this.#leaves(answer, 'backend_reset', words);
  }

  // LastStateOptions

  isIdle(): boolean {
    return this.#parts.session.isIdle();
  }

  member(): MemberName | undefined {
    return this.#parts.session.assignment()?.member;
  }

  runOf(member: MemberName): ServerRun | undefined {
    return this.#wal().samples.get(member)?.[0]?.run;
  }

  shared(packed: string): string {
    return this.#parts.mover.sharedState(packed);
  }

  /** A session that is not on a primary ends with its server, so nobody asks for its state in advance. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void {
    if (this.#isOnPrimary()) this.#departures.ask(onAnswer);
    else onAnswer({ kind: 'pinned', reason: 'unknown_position' });
  }

  #isOnPrimary(): boolean {
    const { mover, session } = this.#parts;
    const pool = mover.pool(session.pool);
    return pool !== undefined && isOfPrimary(pool);
  }

  #keep(): void {
    if (this.#keeping !== undefined) return;
    const { promise: wait, resolve } = Promise.withResolvers<void>();
    const pass = (): void => {
      this.#keeping?.end();
      const words = this.#words.release();
      if (words !== undefined) this.#parts.conversation.passToClient(words);
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
    const { session, conversation } = this.#parts;
    if (conversation.activity() !== 'busy' || conversation.follower()?.fatal() !== undefined) return false;
    session.end(
      'move_in_flight',
      `${this.member() ?? 'the server'}: connection closed by the server without an error message`,
    );
    return true;
  }

  /** Only a primary reports the positions that prove it. True: the session has left its server, or has ended. */
  #leaves({ state, told }: StateReport, ending: BackendEnding, words: Uint8Array | undefined): boolean {
    const server = this.#parts.session.assignment();
    if (server === undefined || told.member !== server.member || !this.#isOnPrimary()) return false;
    if (!this.#departures.mayStillMove(state)) return false;
    const proof = proofOf(told, this.#wal().samples.get(told.member) ?? []);
    const loss = { told, proof, at: this.clock.now(), server, ending, words };
    const error = abortedTransaction(describeEnd(serverText(server), ending, undefined));
    const ended = this.#ended(error, state);
    this.#departures.depart({ from: told.member, cause: 'dead', state, shown: undefined, loss, ...ended });
    return true;
  }

  /** As the session was between two transactions, where the open one is lost with its server. */
  #known(): StateReport | undefined {
    if (this.isIdle()) return this.#state.known();
    return this.#canTell() ? this.#state.beforeTransaction() : undefined;
  }

  /** An error of ours can end the open transaction. */
  #canTell(): boolean {
    const { mover, conversation } = this.#parts;
    if (mover.policy()?.onStays !== 'abort') return false;
    const activity = conversation.activity();
    if (activity === 'in_transaction' || activity === 'in_failed_transaction') return true;
    return conversation.follower()?.mayFailOnce() === true;
  }

  /** A statement that runs fails with its transaction. */
  #ended(error: Uint8Array, state: CarriedState): Pick<Departure, 'aborted' | 'hasAborted'> {
    if (this.#parts.conversation.activity() === 'busy') {
      const running = joined([error, encodeReadyForQuery('failed')]);
      return { aborted: { owed: undefined, running }, hasAborted: true };
    }
    const aborted = this.#departures.endsTransaction(error, state);
    return { aborted, hasAborted: aborted?.owed !== undefined };
  }
}

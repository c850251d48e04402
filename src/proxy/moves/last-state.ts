// The state of a session as its server last told it, for a move after a loss without warning. Asks when the session has
// paused after something that may have left state; a session that is busy is never asked. The state counts only while
// nothing has run since.
import { flushedAt, type ServerRun, type LastAnswer } from '../../core/coverage.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import type { Effect } from '../../wire/follow/statement-effect.ts';
import type { StatementWatch } from '../../wire/follow/statement-watch.ts';
import { packState, unpackState } from './packed-state.ts';

/** The session. */
export interface LastStateOptions {
  readonly clock: Clock;
  /** Reads along with its statements. */
  readonly watch: StatementWatch;
  /** Between two transactions, with nothing under way. */
  isIdle(): boolean;
  member(): MemberName | undefined;
  /** By its newest WAL position. */
  runOf(member: MemberName): ServerRun | undefined;
  /** An equal text of another session in its place, so that both take the memory of one. */
  shared(packed: string): string;
  /** Asks the server, and calls `onAnswer` once. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void): void;
}

export interface StateReport {
  readonly state: CarriedState;
  readonly told: LastAnswer;
}

/**
 * A session that was told something in the second before the loss cannot be covered (core/coverage.ts), so nothing is
 * gained by an earlier question. Milliseconds.
 */
const PAUSE_MS = 500;
/** While the answers are the same, statements that only may have left state are asked about more and more seldom. */
const LONGEST_PAUSE_MS = 8_000;

export class LastState {
  readonly #session: LastStateOptions;
  readonly #watch: StatementWatch;
  /** When its server last said something. */
  #saidAt: Instant;
  #known: { readonly packed: string; readonly told: LastAnswer } | undefined;
  /** Never asked, or not answered as it must be. */
  #isUnknown = true;
  #pauseMs = PAUSE_MS;
  #isScheduled = false;
  #cancel = nothing;

  constructor(session: LastStateOptions) {
    this.#session = session;
    this.#watch = session.watch;
    this.#saidAt = session.clock.now();
  }

  /** The server has said something. */
  hears(): void {
    this.#saidAt = this.#session.clock.now();
    if (!this.#isScheduled) this.#schedule(this.#neededPause());
  }

  /** Undefined: the session cannot go on elsewhere. */
  known(): StateReport | undefined {
    return this.#unlessLeft(this.#watch.effect());
  }

  /** As it was before the open transaction. Undefined: as for `known`, or the transaction may be more than void. */
  beforeTransaction(): StateReport | undefined {
    const report = this.#unlessLeft(this.#watch.effectBefore());
    const textOf = (name: string) => report?.state.prepared.find((one) => one.name === name)?.statement;
    return this.#watch.transaction.isVoid(textOf) ? report : undefined;
  }

  #unlessLeft(effect: Effect): StateReport | undefined {
    if (this.#known === undefined || effect !== 'clean') return undefined;
    const state = unpackState(this.#known.packed);
    // A newer one is not described.
    const unnamed = this.#watch.hasNewUnnamed() ? undefined : state.unnamed;
    return { state: { ...state, unnamed }, told: this.#known.told };
  }

  /** The session has another server, which may not say a word for long. So moves set the pace of these questions. */
  reset(): void {
    this.#known = undefined;
    this.#isUnknown = true;
    this.#pauseMs = PAUSE_MS;
    this.#saidAt = this.#session.clock.now();
    this.#cancel();
    this.#schedule(PAUSE_MS);
  }

  stop(): void {
    this.#cancel();
    this.#isScheduled = true;
  }

  #neededPause(): number {
    return this.#isUnknown || this.#watch.effect() === 'dirty' ? PAUSE_MS : this.#pauseMs;
  }

  #schedule(ms: number): void {
    this.#isScheduled = true;
    this.#cancel = this.#session.clock.schedule(ms, () => this.#look());
  }

  #look(): void {
    this.#isScheduled = false;
    this.#cancel = nothing;
    // While it is busy the next words of its server begin the next wait.
    if (!this.#session.isIdle() || (!this.#isUnknown && this.#watch.effect() === 'clean')) return;
    const leftMs = this.#saidAt + this.#neededPause() - this.#session.clock.now();
    if (leftMs > 0) this.#schedule(leftMs);
    else this.#ask();
  }

  #ask(): void {
    const member = this.#session.member();
    // A run that is known before the question: the server that answers is of this run, or of a later one.
    const run = member === undefined ? undefined : this.#session.runOf(member);
    // An answer would prove nothing.
    if (member === undefined || run === undefined) return this.#askAgainLater();
    const effect = this.#watch.effect();
    const at = this.#saidAt;
    this.#session.ask((found, state) => {
      if (state === undefined) return this.#askAgainLater();
      const before = this.#known?.packed;
      this.#watch.forget(isSystemFirst(state));
      this.#isUnknown = false;
      const { walWriterDelayMs: delayMs } = state;
      const isCertain = found.kind === 'movable' && delayMs !== undefined;
      const packed = this.#session.shared(packState(state));
      this.#known = isCertain ? { packed, told: { member, flushedAt: flushedAt(at, delayMs), run } } : undefined;
      const isSame = effect === 'unsure' && before !== undefined && withoutUnnamed(before) === withoutUnnamed(packed);
      this.#pauseMs = isSame ? Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2) : PAUSE_MS;
      return undefined;
    });
    return undefined;
  }

  /** Without an answer nothing is known. A session that never can move is asked no more. */
  #askAgainLater(): void {
    this.#known = undefined;
    this.#isUnknown = true;
    if (!this.#isScheduled) this.#schedule(LONGEST_PAUSE_MS);
  }
}

/** A path that does not name pg_catalog begins with it. */
function isSystemFirst({ searchPath }: CarriedState): boolean {
  return !/pg_catalog/i.test(searchPath);
}

/** It changes with each statement of many clients. */
function withoutUnnamed(packed: string): string {
  return packState({ ...unpackState(packed), unnamed: undefined });
}

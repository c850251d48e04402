// One client's connects: which members to try, in which order, and when to pause. ConnectAttempts remembers the members
// that failed the client. ConnectRace opens one connection out of several members: a member that has not answered
// within a short delay is raced by the next one, as RFC 8305 does with the addresses of a name. The first connection
// wins, and the other connects are aborted synchronously. A server that has accepted the connection has answered: many
// TLS handshakes at once take longer than the delay, here and there, and a second one for each would double them.
import type { RefusalReason } from '../../model/close-reason.ts';
import type { MemberName } from '../../model/member.ts';
import type { Target } from '../../core/routing-table.ts';
import type { DialOutcome } from '../../reports/events.ts';
import { scheduleAfterReads, type Clock, type Instant } from '../../model/instant.ts';
import type { DialResult, DialServer } from '../server.ts';
import type { ProxySocket } from '../socket.ts';

/** The pause after a round of failed connects; it doubles up to the longest. Milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

interface LastRefusal {
  readonly member: MemberName;
  readonly words: Uint8Array | undefined;
}

export class ConnectAttempts {
  readonly #perRound: number;
  /** Created by the first failure: most clients' first connect succeeds. */
  #failed: Set<MemberName> | undefined;
  #made = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #lastFailure: string | undefined;
  #lastRefusal: LastRefusal | undefined;

  constructor(perRound: number) {
    this.#perRound = perRound;
  }

  /** The last failure, as the reason of a refusal; undefined while no connect failed. */
  failure():
    | { readonly reason: 'connect_failed' | 'backend_refused'; readonly detail: string; readonly member?: MemberName }
    | undefined {
    const detail = this.#lastFailure;
    if (detail === undefined) return undefined;
    const refusal = this.#lastRefusal;
    return refusal === undefined
      ? { reason: 'connect_failed', detail }
      : { reason: 'backend_refused', detail, member: refusal.member };
  }

  /** The words of the server that refused the client last, for a client that is refused for that. */
  words(reason: RefusalReason): Uint8Array | undefined {
    return reason === 'backend_refused' ? this.#lastRefusal?.words : undefined;
  }

  /** Set while the last failure is a refusal of the client by a server, with its own words if it had any. */
  lastRefusal(): LastRefusal | undefined {
    return this.#lastRefusal;
  }

  /** This round has a connect left, and a target other than `member` that did not fail. */
  hasAnother(member: MemberName, targets: readonly Target[]): boolean {
    const isLeft = (target: Target): boolean => target.member !== member && this.#failed?.has(target.member) !== true;
    return this.left() > 1 && targets.some(isLeft);
  }

  /** The connects that are left in this round. */
  left(): number {
    return this.#perRound - this.#made;
  }

  /** The targets that did not fail this client in this round, or all of them if each did. */
  preferred(targets: readonly [Target, ...Target[]]): readonly [Target, ...Target[]] {
    const failed = this.#failed;
    if (failed === undefined) return targets;
    const [first, ...rest] = targets.filter(({ member }) => !failed.has(member));
    return first === undefined ? targets : [first, ...rest];
  }

  /**
   * Notes a failed connect. Returns 0 if another member should be tried at once, else the pause before the next round
   * in milliseconds: a member that refuses again brings no news, and a local fault would meet every member.
   */
  failed(member: MemberName, detail: string, isLocalFault: boolean, targets: readonly Target[]): number {
    this.#lastFailure = `${member}: ${detail}`;
    this.#lastRefusal = undefined;
    this.#made += 1;
    const known = (this.#failed ??= new Set()).add(member);
    const isAnotherLeft = targets.some((target) => !known.has(target.member));
    if (this.#made < this.#perRound && isAnotherLeft && !isLocalFault) return 0;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    this.#made = 0;
    this.#failed = undefined;
    return pauseMs;
  }

  /** The same for a member that refused the client. */
  refused(member: MemberName, detail: string, words: Uint8Array | undefined, targets: readonly Target[]): number {
    const pauseMs = this.failed(member, detail, false, targets);
    this.#lastRefusal = { member, words };
    return pauseMs;
  }
}

export interface ConnectRaceOptions {
  readonly dial: DialServer;
  readonly clock: Clock;
  /** The client has TLS with its server. */
  readonly isEncrypted: boolean;
  /** For each connect. */
  readonly timeoutMs: number;
  /** After this long without an answer the next member is tried as well. Undefined: one connect at a time. */
  readonly delayMs: number | undefined;
  /** A member that is not among `tried`; undefined if none is left. */
  readonly next: (tried: readonly MemberName[]) => Target | undefined;
  /** A connect begins. */
  readonly onBegin: (target: Target) => void;
  /** A connect has ended. The last call is the winner's, if there is one. */
  readonly onFinished: (target: Target, outcome: DialOutcome, durationMs: number) => void;
  /** The member had more time to answer than the winner, and did not answer. */
  readonly onSlow: (target: Target) => void;
  readonly onConnected: (target: Target, socket: ProxySocket) => void;
  /** `isLast`: no other connect is under way; the race is over. */
  readonly onFailed: (target: Target, result: Extract<DialResult, { kind: 'failed' }>, isLast: boolean) => void;
}

interface Runner {
  readonly target: Target;
  readonly startedAt: Instant;
  hasAnswered: boolean;
  abort: () => void;
}

export class ConnectRace {
  readonly #options: ConnectRaceOptions;
  readonly #tried: MemberName[] = [];
  /** In the order of their start. */
  #running: readonly Runner[] = [];
  #cancelDelay: () => void = () => {};
  #isOver = false;

  constructor(options: ConnectRaceOptions) {
    this.#options = options;
  }

  begin(target: Target): void {
    const { dial, clock, isEncrypted, timeoutMs, delayMs, onBegin } = this.#options;
    this.#tried.push(target.member);
    onBegin(target);
    const runner: Runner = { target, startedAt: clock.now(), hasAnswered: false, abort: () => {} };
    const onReached = (): void => void (runner.hasAnswered = true);
    const limits = { clock, isEncrypted, timeoutMs, onReached };
    runner.abort = dial(target, limits, (result) => this.#finished(runner, result));
    this.#running = [...this.#running, runner];
    if (delayMs !== undefined) this.#delay(delayMs);
  }

  /** Idempotent; nothing is reported after it. */
  abort(): void {
    this.#isOver = true;
    this.#cancelDelay();
    const running = this.#running;
    this.#running = [];
    for (const { abort } of running) abort();
  }

  /** An answer that came in time is read before the delay is over. */
  #delay(delayMs: number): void {
    this.#cancelDelay = scheduleAfterReads(this.#options.clock, delayMs, () => this.#beginNext(delayMs));
  }

  #beginNext(delayMs: number): void {
    if (this.#running.some(({ hasAnswered }) => hasAnswered)) return this.#delay(delayMs);
    const next = this.#options.next(this.#tried);
    // next() may make an overdue decision, which may have routed this client again.
    if (!this.#isOver && next !== undefined) this.begin(next);
  }

  #finished(runner: Runner, result: DialResult): void {
    const { onConnected, onFailed } = this.#options;
    this.#running = this.#running.filter((one) => one !== runner);
    if (result.kind === 'connected') {
      this.#abortOthers(runner);
      this.#report(runner, 'connected');
      return onConnected(runner.target, result.socket);
    }
    this.#report(runner, result.outcome);
    const isLast = this.#running.length === 0;
    if (isLast) this.abort();
    onFailed(runner.target, result, isLast);
  }

  #abortOthers(winner: Runner): void {
    const others = this.#running;
    this.abort();
    for (const other of others) {
      this.#report(other, 'outraced');
      if (other.startedAt < winner.startedAt && !other.hasAnswered) this.#options.onSlow(other.target);
    }
  }

  #report({ target, startedAt }: Runner, outcome: DialOutcome): void {
    this.#options.onFinished(target, outcome, this.#options.clock.now() - startedAt);
  }
}

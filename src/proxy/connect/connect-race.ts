// One backend connection out of several members. A member that has not answered the connect within a short delay is
// raced by the next member, as RFC 8305 does with the addresses of a name. The first connection wins; the other
// connects are given up in the same step.
import type { Socket } from 'node:net';
import type { DialOutcome } from '../../reports/events.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { Target } from '../../core/routing-table.ts';
import type { Dial, DialResult } from './dial.ts';

export interface ConnectRaceInputs {
  readonly dial: Dial;
  readonly clock: Clock;
  /** Of each connect. */
  readonly timeoutMs: number;
  /** Without an answer for this long, the next member is tried as well. Undefined: one connect at a time. */
  readonly delayMs: number | undefined;
  readonly first: Target;
  /** Another member that none of `tried` is; undefined: none is left. */
  readonly next: (tried: ReadonlySet<MemberName>) => Target | undefined;
  /** A connect begins. */
  readonly onBegin: (target: Target) => void;
  /** A connect has ended, in one way or another. The last call is the winner's, if there is one. */
  readonly onFinished: (target: Target, outcome: DialOutcome, durationMs: number) => void;
  /** The member had longer to answer than the winner, and did not. */
  readonly onSlow: (target: Target) => void;
  readonly onConnected: (target: Target, socket: Socket) => void;
  /** `isLast`: no connect is under way any more; the race is over. */
  readonly onFailed: (target: Target, result: Extract<DialResult, { kind: 'failed' }>, isLast: boolean) => void;
}

interface Runner {
  readonly target: Target;
  readonly startedAt: Instant;
  readonly abort: () => void;
}

/** Returns the abort, which is idempotent. Reports nothing after it. */
export function raceConnects(inputs: ConnectRaceInputs): () => void {
  const race = new ConnectRace(inputs);
  race.begin(inputs.first);
  return () => race.abort();
}

class ConnectRace {
  readonly #inputs: ConnectRaceInputs;
  readonly #tried = new Set<MemberName>();
  /** In the order in which they began. */
  readonly #running = new Set<Runner>();
  #cancelDelay: () => void = () => {};
  #isOver = false;

  constructor(inputs: ConnectRaceInputs) {
    this.#inputs = inputs;
  }

  begin(target: Target): void {
    const { dial, clock, timeoutMs, delayMs, onBegin } = this.#inputs;
    this.#tried.add(target.member);
    onBegin(target);
    const runner: Runner = {
      target,
      startedAt: clock.now(),
      abort: dial(target.address, { clock, timeoutMs }, (result) => this.#finished(runner, result)),
    };
    this.#running.add(runner);
    if (delayMs !== undefined) this.#cancelDelay = clock.schedule(delayMs, () => this.#beginNext());
  }

  abort(): void {
    this.#isOver = true;
    this.#cancelDelay();
    for (const { abort } of this.#running) abort();
    this.#running.clear();
  }

  #beginNext(): void {
    const next = this.#inputs.next(this.#tried);
    // Looking for it reads the table, which may have routed this client again.
    if (!this.#isOver && next !== undefined) this.begin(next);
  }

  #finished(runner: Runner, result: DialResult): void {
    const { onConnected, onFailed } = this.#inputs;
    this.#running.delete(runner);
    if (result.kind === 'connected') {
      this.#giveUpOthers(runner);
      this.#tell(runner, 'connected');
      return onConnected(runner.target, result.socket);
    }
    this.#tell(runner, result.outcome);
    const isLast = this.#running.size === 0;
    if (isLast) this.abort();
    onFailed(runner.target, result, isLast);
  }

  #giveUpOthers(winner: Runner): void {
    const others = [...this.#running];
    this.abort();
    for (const other of others) {
      this.#tell(other, 'outraced');
      if (other.startedAt < winner.startedAt) this.#inputs.onSlow(other.target);
    }
  }

  #tell({ target, startedAt }: Runner, outcome: DialOutcome): void {
    this.#inputs.onFinished(target, outcome, this.#inputs.clock.now() - startedAt);
  }
}

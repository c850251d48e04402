// Runs a manager's heartbeat: every loop_wait, at once when poked, never twice at a time, and not while it is frozen.
import { Gate } from '../gate.ts';
import type { Clock } from '../../model/instant.ts';

export interface HeartbeatOptions {
  /** Resolves with true when the beat ran to its end. */
  readonly beat: () => Promise<boolean>;
  /** Called when a beat failed. The next one still comes. */
  readonly onError: (error: unknown) => void;
  /** The time until the next beat. */
  readonly waitMs: () => number;
  readonly clock: Clock;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #gate = new Gate();
  #endedAt: number;
  #isClosed = false;
  #isPoked = false;
  #wake = (): void => {};
  #running: Promise<void> | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#endedAt = options.clock.now();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  poke(): void {
    this.#isPoked = true;
    this.#wake();
  }

  isFrozen(): boolean {
    return this.#gate.isShut();
  }

  ageMs(): number {
    return this.#options.clock.now() - this.#endedAt;
  }

  /** Resolves when no beat runs any more. */
  async freeze(): Promise<void> {
    this.#gate.shut();
    await this.#beating;
  }

  thaw(): void {
    this.#gate.open();
  }

  /** Resolves when the last beat has ended. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.thaw();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#gate.passed();
      if (this.#isClosed) return;
      this.#isPoked = false;
      this.#beating = this.#beat();
      await this.#beating;
      await this.#sleep();
    }
  }

  async #beat(): Promise<void> {
    try {
      if (await this.#options.beat()) this.#endedAt = this.#options.clock.now();
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #sleep(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#isPoked || this.#isClosed) return Promise.resolve();
    const cancel = this.#options.clock.schedule(this.#options.waitMs(), resolve);
    this.#wake = () => {
      cancel();
      resolve();
    };
    return promise;
  }
}

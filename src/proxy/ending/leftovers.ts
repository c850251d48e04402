// Sessions whose listener or pool a reload took away: each ends between two of its transactions, what is left at a deadline is ended,
// unless the operator has brought it back by then.
import type { Clock } from '../../model/instant.ts';
import type { SessionRegistry, RegisteredSession } from '../session-registry.ts';
import type { WhenIdle } from './when-idle.ts';

export interface Vanished {
  /** `listener 127.0.0.1:6432`: names it in the log, and is the key under which it may vanish again. */
  readonly what: string;
  readonly isBack: () => boolean;
  readonly has: (session: RegisteredSession) => boolean;
}

export interface LeftoversInputs {
  readonly registry: SessionRegistry;
  readonly clock: Clock;
  readonly whenIdle: WhenIdle;
}

interface Drain {
  readonly vanished: Vanished;
  readonly cancel: () => void;
}

export class Leftovers {
  readonly #inputs: LeftoversInputs;
  readonly #drains = new Map<string, Drain>();

  constructor(inputs: LeftoversInputs) {
    this.#inputs = inputs;
  }

  drain(vanished: Vanished, deadlineMs: number): void {
    const { registry, clock, whenIdle } = this.#inputs;
    const { what, has } = vanished;
    this.#forget(what);
    const wishes = registry
      .all()
      .filter(has)
      .map((session) => whenIdle.run(session, () => dismiss(session, vanished)));
    const cancelDeadline = clock.schedule(deadlineMs, () => {
      this.#forget(what);
      this.end(vanished);
    });
    const cancel = (): void => {
      for (const run of [cancelDeadline, ...wishes]) run();
    };
    this.#drains.set(what, { vanished, cancel });
  }

  /** In this step. */
  end(vanished: Vanished): void {
    if (vanished.isBack()) return;
    for (const session of this.#inputs.registry.all()) dismiss(session, vanished);
  }

  /** Listeners or pools may be there again: their sessions stay. */
  reconfigured(): void {
    for (const [what, { vanished }] of this.#drains) {
      if (vanished.isBack()) this.#forget(what);
    }
  }

  stop(): void {
    for (const what of this.#drains.keys()) this.#forget(what);
  }

  #forget(what: string): void {
    this.#drains.get(what)?.cancel();
    this.#drains.delete(what);
  }
}

/** By now it may have asked for another pool. */
function dismiss(session: RegisteredSession, { what, has }: Vanished): void {
  if (has(session)) session.dismiss(`${what} is no longer configured`);
}

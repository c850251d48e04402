// The work that a manager does beside its heartbeat, which keeps the lock meanwhile. Only one runs at a time.

export class SoleTask {
  readonly #onEnd: () => void;
  #current: { readonly name: string; readonly ended: Promise<unknown> } | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Undefined: none runs. */
  name(): string | undefined {
    return this.#current?.name;
  }

  /** Undefined when another task runs. */
  run<T>(name: string, work: () => Promise<T>): Promise<T> | undefined {
    if (this.#current !== undefined) return undefined;
    const result = this.#run(work);
    this.#current = { name, ended: result.catch(() => {}) };
    return result;
  }

  /** Resolves when the current task has ended. */
  async ended(): Promise<void> {
    await this.#current?.ended;
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    // The task must be known before it begins.
    await Promise.resolve();
    try {
      return await work();
    } finally {
      this.#current = undefined;
      this.#onEnd();
    }
  }
}

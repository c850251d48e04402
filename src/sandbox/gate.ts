// A gate: requests and heartbeats pass while it is open and wait while it is shut. None is refused.

export class Gate {
  #shut: PromiseWithResolvers<void> | undefined;

  shut(): void {
    this.#shut ??= Promise.withResolvers();
  }

  open(): void {
    this.#shut?.resolve();
    this.#shut = undefined;
  }

  isShut(): boolean {
    return this.#shut !== undefined;
  }

  /** Resolves when the gate is open. */
  async passed(): Promise<void> {
    // The gate may have been shut again before this continuation ran.
    while (this.#shut !== undefined) await this.#shut.promise;
  }
}

// A call whose receivers are made later: a part reports to it, and the parts that come after it listen.

export class Signal<Values extends readonly unknown[]> {
  readonly #receivers: ((...values: Values) => void)[] = [];

  /** Synchronous, in the order of the receivers. */
  readonly emit = (...values: Values): void => {
    for (const receive of this.#receivers) receive(...values);
  };

  listen(receive: (...values: Values) => void): void {
    this.#receivers.push(receive);
  }
}

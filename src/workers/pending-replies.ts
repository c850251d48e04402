// Requests under way on a channel, each with its own id. A request without a reply waits for ever: the caller sets the
// limit.

export class PendingReplies<Reply> {
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #lastId = 0;

  request(send: (id: number) => void): Promise<Reply> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      send(id);
    });
  }

  /** Ignores an id that is not pending. */
  resolve(id: number, reply: Reply): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(reply);
  }

  /** For a channel that has ended: no more replies come. */
  resolveAll(reply: Reply): void {
    for (const id of this.#waiting.keys()) this.resolve(id, reply);
  }
}

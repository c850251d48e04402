// Questions under way on a channel, each with an id of its own. One that is never answered waits for ever: who asks sets the bound.

export class Questions<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  ask(send: (id: number) => void): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      send(id);
    });
  }

  /** Nothing, for an id that nobody waits for. */
  answer(id: number, answer: Answer): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(answer);
  }

  /** Of whom no answer is to come any more. */
  answerAll(answer: Answer): void {
    for (const id of this.#waiting.keys()) this.answer(id, answer);
  }
}

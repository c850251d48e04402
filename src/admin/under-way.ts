// Limits the answers that are under way at one time. A client that does not take its answer makes room for the next
// one, so that documents stay available however many of those there are. Health checks do not count.
import type { ServerResponse } from 'node:http';
import { failure, type Answer } from './answer.ts';

const MOST_UNDER_WAY = 32;
/** Time for an answer before it may make room. */
const MOMENT_MS = 1000;

export class UnderWay {
  /** The start of each; oldest first. */
  readonly #answers = new Map<ServerResponse, number>();

  /** An answer: there are too many, and this one instead. */
  begin(response: ServerResponse): Answer | undefined {
    if (this.#answers.size >= MOST_UNDER_WAY && !this.#makeRoom()) {
      const error = `${MOST_UNDER_WAY} answers are under way, the limit: try again later`;
      return failure(503, error, { headers: { 'retry-after': '1' } });
    }
    this.#answers.set(response, performance.now());
    response.once('close', () => this.#answers.delete(response));
    return undefined;
  }

  /** It goes on as a stream, which has limits of its own. */
  release(response: ServerResponse): void {
    this.#answers.delete(response);
  }

  #makeRoom(): boolean {
    const late = performance.now() - MOMENT_MS;
    for (const [response, startedAt] of this.#answers) {
      if (startedAt > late) return false;
      // It waits for its client, and not for its document.
      if (!response.writableEnded && !response.writableNeedDrain) continue;
      response.destroy();
      this.#answers.delete(response);
      return true;
    }
    return false;
  }
}

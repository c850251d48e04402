// The process of the libpq client: requests go in as lines, answers and ends of sessions come out. It ends with its
// input.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const SCRIPT = join(import.meta.dirname, 'libpq-worker.py');

const line = z.object({
  id: z.number().optional(),
  ended: z.number().optional(),
  failed: z.string().optional(),
  atMs: z.number().optional(),
  code: z.string().optional(),
  startedAtMs: z.number().optional(),
  endedAtMs: z.number().optional(),
  rowId: z.number().optional(),
  server: z.string().optional(),
  error: z.string().optional(),
  isConnect: z.boolean().optional(),
});

export type WorkerAnswer = z.infer<typeof line>;

export class LibpqWorker {
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  readonly #waiting = new Map<number, PromiseWithResolvers<WorkerAnswer>>();
  /** The ends of sessions, by the id of the request that opened them. */
  readonly ends = new Map<number, WorkerAnswer>();
  #lastId = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = new Promise((resolve) => {
      child.once('close', () => resolve());
    });
    if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (text) => this.#take(text));
    child.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the libpq client ended'));
    });
  }

  /** `settings`: libpq's connection parameters. */
  static start(python: string, settings: Readonly<Record<string, string>>): LibpqWorker {
    const child = spawn(python, [SCRIPT, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
    return new LibpqWorker(child);
  }

  /** Resolves with the answer, and with the id of its session. */
  async ask(what: Readonly<Record<string, unknown>>): Promise<{ readonly id: number; readonly answer: WorkerAnswer }> {
    this.#lastId += 1;
    const id = this.#lastId;
    const waiting = Promise.withResolvers<WorkerAnswer>();
    this.#waiting.set(id, waiting);
    this.#child.stdin?.write(`${JSON.stringify({ id, ...what })}\n`);
    const answer = await waiting.promise;
    if (answer.failed !== undefined) throw new Error(`libpq client: ${answer.failed}`);
    return { id, answer };
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#closed;
  }

  #take(text: string): void {
    const answer = line.parse(JSON.parse(text));
    if (answer.ended !== undefined) this.ends.set(answer.ended, answer);
    if (answer.id === undefined) return;
    this.#waiting.get(answer.id)?.resolve(answer);
    this.#waiting.delete(answer.id);
  }
}

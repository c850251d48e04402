// Shared by the programs for Node: see README.md.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface Session {
  readonly verbs: Readonly<Record<string, (...words: readonly string[]) => Promise<string>>>;
}

type Open = (name: string, options: string) => Promise<Session>;

function tell(...parts: readonly string[]): void {
  process.stdout.write(`${parts.map((part) => part.trim().replaceAll(/[\n\t]/g, ' | ')).join('\t')}\n`);
}

export function tellEvent(session: string, ...words: readonly string[]): void {
  tell('event', session, words.join(' '));
}

/** For node-postgres and postgres.js. */
export function encryption(): false | { readonly ca: string } | { readonly rejectUnauthorized: false } {
  const { PGSSLMODE: mode, PGSSLROOTCERT: file } = process.env;
  if (mode === 'disable') return false;
  return mode === 'verify-full' && file !== undefined
    ? { ca: readFileSync(file, 'utf8') }
    : { rejectUnauthorized: false };
}

/** The message with SQLSTATE, DETAIL and HINT, if the server sent them. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const more = ['detail', 'hint'].map((field): unknown => Reflect.get(error, field));
  return [error.message, ...more].filter((part) => typeof part === 'string').join('\n');
}

export function stateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export function countAndSum(numbers: readonly number[]): string {
  return `${numbers.length} ${numbers.reduce((sum, n) => sum + n, 0)}`;
}

export function numbersUpTo(count: string): readonly number[] {
  return Array.from({ length: Number(count) }, (_, n) => n + 1);
}

/** Writes one row after the other until it is ended. */
export class Load {
  #isWanted = true;
  #acknowledged = 0;
  readonly #done: Promise<void>;

  constructor(write: () => Promise<unknown>) {
    this.#done = this.#writeOn(write);
    // The failure is told when the load is ended.
    this.#done.catch(() => undefined);
  }

  async end(): Promise<string> {
    this.#isWanted = false;
    await this.#done;
    return String(this.#acknowledged);
  }

  async #writeOn(write: () => Promise<unknown>): Promise<void> {
    while (this.#isWanted) {
      await write();
      this.#acknowledged += 1;
    }
  }
}

/** Answers the requests until the input ends. */
export function serve(open: Open): void {
  const sessions = new Map<string, Session>();
  const last = new Map<string, Promise<void>>();

  async function answer(id: string, verb: string, name: string, words: readonly string[]): Promise<void> {
    try {
      if (verb === 'open') {
        sessions.set(name, await open(name, words[0] ?? ''));
        tell(id, 'ok', '');
        return;
      }
      const act = sessions.get(name)?.verbs[verb];
      if (act === undefined) throw new Error(`no verb ${verb} for ${name}`);
      tell(id, 'ok', await act(...words));
    } catch (error) {
      tell(id, 'error', stateOf(error), textOf(error));
    }
  }

  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const [id = '', verb = '', name = '', ...words] = line.split('\t');
      const before = last.get(name) ?? Promise.resolve();
      last.set(
        name,
        before.then(() => answer(id, verb, name, words)),
      );
    })
    .once('close', () => process.exit(0));
}

// Which parts of src/ have run so far, as V8 counts them: blocks of functions. It needs no other build of the program.
import { Session } from 'node:inspector';
import type { Profiler } from 'node:inspector';

export class Coverage {
  readonly #session = new Session();
  readonly #covers: readonly string[];
  /** By function: 1 for each character of its text that has run. */
  readonly #seen = new Map<string, Uint8Array>();

  /** `covers`: files under `src/`, by the beginning of their path. */
  constructor(covers: readonly string[]) {
    this.#covers = covers.map((path) => new URL(`../../src/${path}`, import.meta.url).href);
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  }

  /** Something has run, since the last look, that had not run before. It stays new. */
  isNew(): boolean {
    return this.#look(false);
  }

  /** As `isNew`, and it is new no more. */
  note(): boolean {
    return this.#look(true);
  }

  functions(): number {
    return this.#seen.size;
  }

  #look(isNoted: boolean): boolean {
    let isNew = false;
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      for (const { url, functions } of result) {
        if (!this.#covers.some((path) => url.startsWith(path))) continue;
        for (const one of functions) isNew = this.#compare(url, one, isNoted) || isNew;
      }
    });
    return isNew;
  }

  /** The ranges are nested, the outer ones first. */
  #compare(url: string, { ranges }: Profiler.FunctionCoverage, isNoted: boolean): boolean {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) return false;
    const { startOffset: from, endOffset } = whole;
    const key = `${url} ${from}`;
    const seen = this.#seen.get(key) ?? new Uint8Array(endOffset - from);
    const now = new Uint8Array(seen.length);
    for (const { count, startOffset, endOffset } of ranges) {
      now.fill(count > 0 ? 1 : 0, startOffset - from, endOffset - from);
    }
    const isNew = now.some((count, at) => count > 0 && seen[at] === 0);
    if (isNew && isNoted) {
      for (const [at, count] of now.entries()) if (count > 0) seen[at] = 1;
      this.#seen.set(key, seen);
    }
    return isNew;
  }
}

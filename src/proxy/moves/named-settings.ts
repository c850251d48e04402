// The custom settings that functions and row policies name, by database. They are looked for once in a while, because
// it costs the server some milliseconds.
import type { Instant } from '../../model/instant.ts';

/** A name that a function got after this is found later. Milliseconds. */
const FRESH_MS = 5_000;

interface Found {
  readonly names: readonly string[];
  readonly until: Instant;
}

export class NamedSettings {
  readonly #found = new Map<string, Found>();

  /** Undefined: it is time to look for them. */
  of(database: string, now: Instant): readonly string[] | undefined {
    const found = this.#found.get(database);
    if (found !== undefined && now < found.until) return found.names;
    this.#found.delete(database);
    return undefined;
  }

  /** `names`: undefined if they were not looked for. */
  learn(database: string, names: readonly string[] | undefined, now: Instant): void {
    if (names !== undefined) this.#found.set(database, { names, until: now + FRESH_MS });
  }
}

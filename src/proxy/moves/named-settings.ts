// The custom settings that the objects of each database name, as a question found them last. The server looks for them
// only after a change of such an object, because that costs it some milliseconds.
import type { NamedSettings } from '../../model/moves.ts';

export const NOTHING_NAMED: NamedSettings = { version: '', names: [], unclear: [] };
/** Those of objects that are gone stay, as far as there is room: a session may have called a function before. */
const MOST_NAMES = 400;

export class NamedByDatabase {
  readonly #found = new Map<string, NamedSettings>();

  of(database: string): NamedSettings {
    return this.#found.get(database) ?? NOTHING_NAMED;
  }

  /** `found`: undefined if nothing has changed. */
  learn(database: string, found: NamedSettings | undefined): void {
    if (found === undefined) return;
    const names = [...new Set([...found.names, ...this.of(database).names])].slice(0, MOST_NAMES);
    this.#found.set(database, { ...found, names });
  }
}

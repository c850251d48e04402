// The cancel keys of live sessions that can be read, whatever listener they came by. A key is looked for among those of its process
// id only, and compared with each of them in constant time.
import type { Target } from '../../core/routing-table.ts';
import { isSameKey } from '../../wire/cancel-key.ts';
import type { CancelKey } from '../../wire/cancel-key.ts';

/** One session's; what `add` gives is what `remove` takes. */
export interface Keyed {
  readonly key: CancelKey;
  readonly target: Target;
  /** Another session's, of the same process id. */
  next: Keyed | undefined;
}

export class CancelKeys {
  readonly #first = new Map<number, Keyed>();

  add(key: CancelKey, target: Target): Keyed {
    const keyed: Keyed = { key, target, next: this.#first.get(key.processId) };
    this.#first.set(key.processId, keyed);
    return keyed;
  }

  /** Later calls do nothing. */
  remove(keyed: Keyed): void {
    const { processId } = keyed.key;
    let before: Keyed | undefined;
    let at = this.#first.get(processId);
    while (at !== undefined && at !== keyed) {
      before = at;
      at = at.next;
    }
    if (at === undefined) return;
    if (before !== undefined) before.next = keyed.next;
    else if (keyed.next === undefined) this.#first.delete(processId);
    else this.#first.set(processId, keyed.next);
  }

  /** Where the session with that key lives. */
  find(key: CancelKey): Target | undefined {
    let found: Target | undefined;
    for (let keyed = this.#first.get(key.processId); keyed !== undefined; keyed = keyed.next) {
      if (isSameKey(keyed.key, key)) found = keyed.target;
    }
    return found;
  }

  size(): number {
    return this.#first.size;
  }
}

// The cancel keys of live sessions that can be read, whatever listener they came by. A key is looked for among those of its process
// id only, and compared with each of them in constant time.
import type { Target } from '../core/routing-table.ts';
import { isSameKey } from '../wire/cancel-key.ts';
import type { CancelKey } from '../wire/cancel-key.ts';

interface Keyed {
  readonly key: CancelKey;
  readonly target: Target;
}

export class CancelKeys {
  readonly #keyed = new Map<number, Set<Keyed>>();

  /** Returns what takes it away again; idempotent. */
  add(key: CancelKey, target: Target): () => void {
    const keyed: Keyed = { key, target };
    const same = this.#keyed.get(key.processId) ?? new Set();
    this.#keyed.set(key.processId, same.add(keyed));
    return () => {
      if (same.delete(keyed) && same.size === 0) this.#keyed.delete(key.processId);
    };
  }

  /** Where the session with that key lives. */
  find(key: CancelKey): Target | undefined {
    let found: Target | undefined;
    for (const keyed of this.#keyed.get(key.processId) ?? []) {
      if (isSameKey(keyed.key, key)) found = keyed.target;
    }
    return found;
  }

  size(): number {
    return this.#keyed.size;
  }
}

// The names that clients give in their startup packets. Most sessions of an application give the same ones, so equal
// names are one object in memory, for as many different ones as are remembered.
import type { Login } from '../../reports/events.ts';

/** Cut and escaped, to be shown. */
export interface ClientNames {
  readonly login: Login;
  readonly application: string | undefined;
}

/** With more different names than this, equal ones may again be several objects. */
const MOST_NAMES = 256;
/** Cannot be part of a name: PostgreSQL ends names with it. */
const SEPARATOR = '\0';

export const NO_NAMES: ClientNames = { login: {}, application: undefined };

export class SharedNames {
  readonly #known = new Map<string, ClientNames>();

  /** Equal names, the same object for each caller. */
  share(names: ClientNames): ClientNames {
    const { login, application } = names;
    const key = [login.user, login.database, application].map((name) => name ?? SEPARATOR).join(SEPARATOR);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MOST_NAMES) this.#known.clear();
    this.#known.set(key, names);
    return names;
  }

  size(): number {
    return this.#known.size;
  }
}

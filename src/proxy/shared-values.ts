// Equal values of many sessions as one object in memory, for as many different ones as are remembered.

/** With more different values than this, equal ones may again be several objects. */
const MOST_VALUES = 256;
/** A value with a longer key is not shared, so that what is remembered is little. Characters. */
const LONGEST_KEY = 1024;

export class SharedValues<Value> {
  readonly #known = new Map<string, Value>();

  /** For equal keys the same value for each caller. `make` is called for a key that is not remembered. */
  of(key: string, make: () => Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = make();
    if (key.length > LONGEST_KEY) return value;
    if (this.#known.size >= MOST_VALUES) this.#known.clear();
    this.#known.set(key, value);
    return value;
  }
}

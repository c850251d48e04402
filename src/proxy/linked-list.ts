// A list whose values come and go in any order, each in the same time: sessions, clients in their startup. A Set or a
// Map will not do. V8 keeps a link from each table that it has outgrown to the next one. Once one such table is in the
// old generation, every later table, and every session that was in it, stays until the next full collection.

/** A value's place in one list. */
export interface Link<T> {
  readonly value: T;
  /** Undefined: it was taken out. */
  list: LinkedList<T> | undefined;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Behind all others. */
  add(value: T): Link<T> {
    const before = this.#last;
    const link: Link<T> = { value, list: this, before, after: undefined };
    if (before === undefined) this.#first = link;
    else before.after = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** False: it is not in this list, or not any more. */
  remove(link: Link<T>): boolean {
    if (link.list !== this) return false;
    const { before, after } = link;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    // Garbage that refers to a later link would keep it.
    link.list = undefined;
    link.before = undefined;
    link.after = undefined;
    this.#size -= 1;
    return true;
  }

  /** In the order in which they came. The value of the turn may be taken out meanwhile, and no other. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    let link = this.#first;
    while (link !== undefined) {
      const { value, after } = link;
      yield value;
      link = after;
    }
  }
}

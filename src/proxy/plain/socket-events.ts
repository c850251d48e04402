// The events of a plain socket: those of a socket of Node that the proxy uses, with the same rules. Node's own emitter
// keeps listeners in an object without a fixed shape, which takes longer, and more memory in each idle session.
import type { SocketMoment } from '../socket.ts';

type ListenerOf<Value> = (value: Value) => void;
type NamedListener =
  | [name: 'data', listener: ListenerOf<Uint8Array>]
  | [name: 'error', listener: ListenerOf<Error>]
  | [name: SocketMoment, listener: ListenerOf<void>];

/** For the next time only. */
class Once<Value> {
  readonly listener: ListenerOf<Value>;

  constructor(listener: ListenerOf<Value>) {
    this.listener = listener;
  }
}

type Entry<Value> = ListenerOf<Value> | Once<Value>;
/** A list is replaced, and never changed: an event goes to the listeners that it had when it began. */
type Entries<Value> = Entry<Value> | readonly Entry<Value>[] | undefined;

export abstract class SocketEvents {
  #data: Entries<Uint8Array>;
  #error: Entries<Error>;
  readonly #moments: Record<SocketMoment, Entries<void>> = {
    close: undefined,
    connect: undefined,
    drain: undefined,
    end: undefined,
    finish: undefined,
  };

  on(name: 'data', listener: (bytes: Uint8Array) => void): this;
  on(name: 'error', listener: (error: Error) => void): this;
  on(name: SocketMoment, listener: () => void): this;
  on(...[name, listener]: NamedListener): this {
    if (name === 'data') {
      this.#data = added(this.#data, listener);
      this.readerCame();
    } else if (name === 'error') this.#error = added(this.#error, listener);
    else this.#moments[name] = added(this.#moments[name], listener);
    return this;
  }

  once(name: 'error', listener: (error: Error) => void): this;
  once(name: SocketMoment, listener: () => void): this;
  once(...[name, listener]: Exclude<NamedListener, ['data', unknown]>): this {
    if (name === 'error') this.#error = added(this.#error, new Once(listener));
    else this.#moments[name] = added(this.#moments[name], new Once(listener));
    return this;
  }

  off(name: 'data', listener: (bytes: Uint8Array) => void): this;
  off(name: 'error', listener: (error: Error) => void): this;
  off(name: SocketMoment, listener: () => void): this;
  off(...[name, listener]: NamedListener): this {
    if (name === 'data') this.#data = without(this.#data, listener);
    else if (name === 'error') this.#error = without(this.#error, listener);
    else this.#moments[name] = without(this.#moments[name], listener);
    return this;
  }

  /** `data` has a listener. */
  protected abstract readerCame(): void;

  protected emitData(bytes: Uint8Array): void {
    const entries = this.#data;
    if (typeof entries === 'function') entries(bytes);
    else for (const listener of listenersOf(entries)) listener(bytes);
  }

  /** Throws it if there is no listener. */
  protected emitError(error: Error): void {
    if (this.#error === undefined) throw error;
    const entries = this.#error;
    this.#error = withoutOnce(entries);
    for (const listener of listenersOf(entries)) listener(error);
  }

  protected emit(name: SocketMoment): void {
    const entries = this.#moments[name];
    if (typeof entries === 'function') return entries();
    this.#moments[name] = withoutOnce(entries);
    for (const listener of listenersOf(entries)) listener();
    return undefined;
  }
}

function added<Value>(entries: Entries<Value>, entry: Entry<Value>): Entries<Value> {
  if (entries === undefined) return entry;
  return isList(entries) ? [...entries, entry] : [entries, entry];
}

/** Takes out the one that was added last. */
function without<Value>(entries: Entries<Value>, listener: ListenerOf<Value>): Entries<Value> {
  if (entries === undefined) return undefined;
  if (!isList(entries)) return listenerOf(entries) === listener ? undefined : entries;
  const index = entries.findLastIndex((entry) => listenerOf(entry) === listener);
  if (index === -1) return entries;
  return entries.length === 2 ? entries[1 - index] : entries.toSpliced(index, 1);
}

function withoutOnce<Value>(entries: Entries<Value>): Entries<Value> {
  if (entries instanceof Once) return undefined;
  if (!isList(entries) || !entries.some((entry) => entry instanceof Once)) return entries;
  const left = entries.filter((entry) => !(entry instanceof Once));
  return left.length > 1 ? left : left[0];
}

function listenersOf<Value>(entries: Entries<Value>): readonly ListenerOf<Value>[] {
  if (entries === undefined) return [];
  return isList(entries) ? entries.map(listenerOf) : [listenerOf(entries)];
}

function listenerOf<Value>(entry: Entry<Value>): ListenerOf<Value> {
  return entry instanceof Once ? entry.listener : entry;
}

function isList<Value>(entries: Entries<Value>): entries is readonly Entry<Value>[] {
  return Array.isArray(entries);
}

// The store on a host of its own, and its client in a manager: each operation is one HTTP request, which may get lost
// on the way there or on the way back.
import { ownJson } from '../postgres/own-json.ts';
import type { HttpAnswer } from '../world/http.ts';
import type { Host } from '../world/world.ts';
import type { ApiEndpoint } from '../../../src/model/member.ts';
import type { Program } from '../postgres/program.ts';
import type { FailoverKey, HistoryEntry, MemberKey, Store, StoreView, SyncKey } from './store.ts';

export const STORE_PORT = 2379;

type Operation =
  | { readonly op: 'read' }
  | { readonly op: 'touch'; readonly key: MemberKey; readonly ttlMs: number }
  | { readonly op: 'acquire'; readonly name: string; readonly ttlMs: number }
  | { readonly op: 'renew'; readonly name: string; readonly ttlMs: number; readonly position: number }
  | { readonly op: 'release'; readonly name: string; readonly position: number | undefined }
  | { readonly op: 'order'; readonly failover: FailoverKey | undefined }
  | { readonly op: 'synchronize'; readonly name: string; readonly sync: SyncKey }
  | { readonly op: 'history'; readonly entries: readonly HistoryEntry[] }
  | { readonly op: 'patch'; readonly changes: Readonly<Record<string, unknown>> }
  | { readonly op: 'identify'; readonly systemIdentifier: string }
  /** Answers when the leader or the order is another one, or after this time. */
  | { readonly op: 'watch'; readonly version: number; readonly ms: number };

interface Watch {
  readonly version: number;
  readonly end: number;
  readonly resolve: (reply: HttpAnswer) => void;
}

/** Between two attempts at a store that refuses connections. Milliseconds. */
const AGAIN_MS = 300;

export class StoreService {
  readonly host: Host;
  readonly store: Store;
  readonly #waiting = new Set<Watch>();
  #cancel: () => void = () => {};
  #close: () => void;

  constructor(host: Host, store: Store) {
    this.host = host;
    this.store = store;
    this.#close = this.#serve();
  }

  /** The process is gone: its data stays. */
  kill(): void {
    this.#close();
    this.#cancel();
    this.#waiting.clear();
  }

  start(): void {
    this.#close = this.#serve();
  }

  #serve(): () => void {
    return this.host.serveHttp(STORE_PORT, ({ body }) => this.#answer(ownJson<Operation>(String(body))));
  }

  #answer(operation: Operation): HttpAnswer | Promise<HttpAnswer> {
    if (operation.op === 'watch') return this.#watch(operation.version, operation.ms);
    const result = this.#perform(operation);
    this.#look();
    return ok(result);
  }

  #perform(operation: Exclude<Operation, { op: 'watch' }>): unknown {
    const { store } = this;
    switch (operation.op) {
      case 'read':
        return store.read();
      case 'touch':
        return store.touch(operation.key, operation.ttlMs);
      case 'acquire':
        return store.acquire(operation.name, operation.ttlMs);
      case 'renew':
        return store.renew(operation.name, operation.ttlMs, operation.position);
      case 'release':
        return store.release(operation.name, operation.position);
      case 'order':
        return store.order(operation.failover);
      case 'synchronize':
        return store.synchronize(operation.name, operation.sync);
      case 'history':
        return store.writeHistory(operation.entries);
      case 'patch':
        return store.patch(operation.changes);
      case 'identify':
        return store.identify(operation.systemIdentifier);
    }
  }

  #watch(version: number, ms: number): Promise<HttpAnswer> {
    const { promise, resolve } = Promise.withResolvers<HttpAnswer>();
    this.#waiting.add({ version, end: this.host.clock.now() + ms, resolve });
    this.#look();
    return promise;
  }

  /** Answers the watches that are due, and comes back when the lease or the first of them ends. */
  #look(): void {
    const now = this.host.clock.now();
    const version = this.store.version();
    for (const watch of this.#waiting) {
      if (watch.version === version && now < watch.end) continue;
      this.#waiting.delete(watch);
      watch.resolve(ok(version));
    }
    this.#cancel();
    if (this.#waiting.size === 0) return;
    const ends = [...this.#waiting].map(({ end }) => end - now);
    this.#cancel = this.host.clock.schedule(Math.min(...ends, this.store.leaseMs() ?? Infinity), () => this.#look());
  }
}

/** Undefined: the store did not answer, and may have done it all the same. */
export type StoreResult<Value> = Promise<Value | undefined>;

export class StoreClient {
  readonly #host: Host;
  readonly #address: string;
  readonly #program: Program;

  constructor(host: Host, address: string, program: Program) {
    this.#host = host;
    this.#address = address;
    this.#program = program;
  }

  read(deadlineMs: number): StoreResult<StoreView> {
    return this.#ask({ op: 'read' }, deadlineMs);
  }

  touch(key: MemberKey, ttlMs: number, deadlineMs: number): StoreResult<null> {
    return this.#ask({ op: 'touch', key, ttlMs }, deadlineMs);
  }

  acquire(name: string, ttlMs: number, deadlineMs: number): StoreResult<boolean> {
    return this.#ask({ op: 'acquire', name, ttlMs }, deadlineMs);
  }

  renew(name: string, ttlMs: number, position: number, deadlineMs: number): StoreResult<boolean> {
    return this.#ask({ op: 'renew', name, ttlMs, position }, deadlineMs);
  }

  release(name: string, position: number | undefined, deadlineMs: number): StoreResult<boolean> {
    return this.#ask({ op: 'release', name, position }, deadlineMs);
  }

  order(failover: FailoverKey | undefined, deadlineMs: number): StoreResult<null> {
    return this.#ask({ op: 'order', failover }, deadlineMs);
  }

  synchronize(name: string, sync: SyncKey, deadlineMs: number): StoreResult<boolean> {
    return this.#ask({ op: 'synchronize', name, sync }, deadlineMs);
  }

  writeHistory(entries: readonly HistoryEntry[], deadlineMs: number): StoreResult<null> {
    return this.#ask({ op: 'history', entries }, deadlineMs);
  }

  patch(changes: Readonly<Record<string, unknown>>, deadlineMs: number): StoreResult<object> {
    return this.#ask({ op: 'patch', changes }, deadlineMs);
  }

  identify(systemIdentifier: string, deadlineMs: number): StoreResult<boolean> {
    return this.#ask({ op: 'identify', systemIdentifier }, deadlineMs);
  }

  watch(version: number, ms: number): StoreResult<number> {
    return this.#ask({ op: 'watch', version, ms }, ms + 500);
  }

  /** Like Patroni, tries again until the time for it is over. */
  async #ask<Value>(operation: Operation, deadlineMs: number): StoreResult<Value> {
    const end = this.#program.now() + deadlineMs;
    for (let left = deadlineMs; left > 0; left = end - this.#program.now()) {
      const api = apiAt(this.#address, STORE_PORT);
      const body = JSON.stringify(operation);
      const result = await this.#host.request({ api, method: 'POST', path: '/', body, deadlineMs: left });
      await this.#program.turn();
      if (result.kind === 'answered' && result.status === 200) return ownJson<Value>(result.body);
      if (operation.op === 'watch') return undefined;
      await this.#program.pause(Math.min(AGAIN_MS, Math.max(1, left)));
    }
    return undefined;
  }
}

export function apiAt(host: string, port: number): ApiEndpoint {
  return { url: `http://${host}:${port}`, address: { host, port } };
}

function ok(value: unknown): HttpAnswer {
  return { status: 200, body: JSON.stringify(value ?? null) };
}

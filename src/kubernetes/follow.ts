// Follows a collection of the Kubernetes API: a list, then a watch from the list's version. While the API server is
// unreachable the last known objects stay, with the time and the cause of the failure. Uses one connection at a time.
import { parseJson } from '../model/json.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { ExchangeError } from '../http/exchange-error.ts';
import { ask, type KubernetesServer } from './api-server.ts';
import { readEvent, readList, readStatus, type KubernetesObject, type ReadEntry } from './kubernetes-documents.ts';
import { LineReader } from './lines.ts';

export interface FollowState {
  /** By name. */
  readonly entries: ReadonlyMap<string, KubernetesObject>;
  readonly isListed: boolean;
  readonly failing: { readonly since: Instant; readonly why: string } | undefined;
}

export interface Collection {
  readonly server: KubernetesServer;
  /** `/api/v1/namespaces/db/pods` */
  readonly path: string;
  /** In the syntax of `kubectl -l`. */
  readonly labels: string;
  readonly read: ReadEntry;
}

export interface FollowOptions {
  /** Called before each list. Rejects with an Error that names what is missing. */
  readonly collection: () => Promise<Collection>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pace?: Partial<RetryPace>;
  readonly onChange: (followed: FollowState) => void;
}

/** Milliseconds. */
export interface RetryPace {
  /** Pause before the next attempt: after the first failure, and the longest. */
  readonly leastPauseMs: number;
  readonly mostPauseMs: number;
  readonly connectMs: number;
  /** Limit for a complete list. */
  readonly listMs: number;
  /** A watch without a byte for this long is aborted. Bookmarks come every minute. */
  readonly quietMs: number;
  /** The requested duration of a watch, before jitter. */
  readonly watchMs: number;
}

const PACE: RetryPace = {
  leastPauseMs: 1000,
  mostPauseMs: 30_000,
  connectMs: 5000,
  listMs: 10_000,
  quietMs: 150_000,
  watchMs: 300_000,
};
const MAX_OBJECT_BYTES = 2 * 1024 * 1024;
/** Limit on objects in one list; far above the members of a cluster. */
const MAX_OBJECTS = 500;
/** After this many failed watches in a row a new list follows. */
const RELIST_AFTER = 3;

type WatchEnd =
  | { readonly kind: 'well' }
  /** The version is too old for a watch. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly why: string };

/** Starts at once. The returned function stops it. */
export function follow(options: FollowOptions): () => void {
  const following = new Follower(options);
  void following.run();
  return () => following.stop();
}

class Follower {
  readonly #options: FollowOptions;
  readonly #pace: RetryPace;
  readonly #stopping = new AbortController();
  #followed: FollowState = { entries: new Map(), isListed: false, failing: undefined };
  /** The version for the next watch. Undefined: list first. */
  #version: string | undefined;
  /** A list from the API server's cache may be older than the version that is gone. */
  #wantsNewest = false;
  #failures = 0;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#pace = { ...PACE, ...options.pace };
  }

  stop(): void {
    this.#stopping.abort();
  }

  async run(): Promise<void> {
    while (!this.#isStopped()) {
      const wasListing = this.#version === undefined;
      const startedAt = this.#options.clock.now();
      const ended = await this.#next();
      if (this.#isStopped()) return;
      if (ended.kind === 'well') {
        this.#failures = 0;
        const isShort = this.#options.clock.now() - startedAt < this.#pace.leastPauseMs;
        if (!wasListing && isShort) await this.#pause();
        continue;
      }
      this.#failures += 1;
      if (ended.kind === 'gone' || this.#failures % RELIST_AFTER === 0) this.#version = undefined;
      if (ended.kind === 'gone') this.#wantsNewest = true;
      else this.#failed(ended.why);
      // A version that is gone once is normal.
      if (ended.kind === 'failed' || this.#failures > 1) await this.#pause();
    }
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #next(): Promise<WatchEnd> {
    const version = this.#version;
    try {
      const collection = await this.#options.collection();
      return version === undefined ? await this.#list(collection) : await this.#watch(collection, version);
    } catch (error) {
      return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
    }
  }

  async #list({ server, path, labels, read }: Collection): Promise<WatchEnd> {
    const query = new URLSearchParams({ labelSelector: labels, limit: String(MAX_OBJECTS) });
    // Version 0: from the API server's cache, which spares its store.
    if (!this.#wantsNewest) query.set('resourceVersion', '0');
    const { connectMs, listMs } = this.#pace;
    const limit = this.#limit(listMs, `no whole list within ${listMs} ms`);
    try {
      const { status, body } = await ask(server, {
        path: `${path}?${query.toString()}`,
        connectMs,
        signal: limit.signal,
      });
      if (status !== 200) return refused(status, body);
      const list = readList(JSON.parse(body));
      if (list === undefined) return { kind: 'failed', why: 'the answer is no list' };
      if (list.isCut) return { kind: 'failed', why: `more than ${MAX_OBJECTS} objects have the labels ${labels}` };
      const entries = list.items.flatMap((item) => read(item) ?? []);
      this.#version = list.version;
      this.#wantsNewest = false;
      this.#tell({ entries: new Map(entries.map((entry) => [entry.name, entry])), isListed: true, failing: undefined });
      return { kind: 'well' };
    } finally {
      limit.end();
    }
  }

  async #watch({ server, path, labels, read }: Collection, from: string): Promise<WatchEnd> {
    const { connectMs, quietMs, watchMs } = this.#pace;
    const seconds = Math.max(1, Math.round((watchMs * (0.8 + 0.4 * this.#options.random())) / 1000));
    const query = new URLSearchParams({
      labelSelector: labels,
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: from,
      timeoutSeconds: String(seconds),
    });
    const limit = this.#limit(quietMs, `not a byte for ${quietMs} ms`);
    const lines = new LineReader(MAX_OBJECT_BYTES);
    const over: WatchEnd[] = [];
    const take = (chunk: Uint8Array): void => {
      limit.renew();
      for (const line of lines.take(chunk)) {
        const ended = this.#take(line, read);
        if (ended === undefined) continue;
        over.push(ended);
        throw new ExchangeError('local', 'the watch is over');
      }
    };
    try {
      const { status, body } = await ask(server, {
        path: `${path}?${query.toString()}`,
        connectMs,
        signal: limit.signal,
        onStatus: (status) => {
          if (status !== 200) return undefined;
          // The response itself is the recovery: the next event may be hours away.
          if (this.#followed.failing !== undefined) this.#tell({ ...this.#followed, failing: undefined });
          return take;
        },
      });
      if (status !== 200) return refused(status, body);
      return lines.isWithinLine() ? { kind: 'failed', why: CUT_OFF } : { kind: 'well' };
    } catch (error) {
      const [ended] = over;
      if (ended === undefined) throw error;
      return ended;
    } finally {
      limit.end();
    }
  }

  /** Undefined: the watch goes on. */
  #take(line: string, read: ReadEntry): WatchEnd | undefined {
    const event = readEvent(parseJson(line));
    if (event === undefined) return { kind: 'failed', why: 'an event that is none of the API' };
    if (event.kind === 'error') {
      return event.code === 410 ? { kind: 'gone' } : { kind: 'failed', why: `the watch failed: ${event.message}` };
    }
    this.#version = event.version;
    if (event.kind === 'bookmark') return undefined;
    const entries = new Map(this.#followed.entries);
    const entry = event.kind === 'deleted' ? undefined : read(event.object);
    if (event.kind === 'deleted') entries.delete(event.name);
    if (entry !== undefined) entries.set(entry.name, entry);
    this.#tell({ ...this.#followed, entries });
    return undefined;
  }

  #tell(followed: FollowState): void {
    if (this.#isStopped()) return;
    this.#followed = followed;
    this.#options.onChange(followed);
  }

  #failed(why: string): void {
    const since = this.#followed.failing?.since ?? this.#options.clock.now();
    this.#tell({ ...this.#followed, failing: { since, why } });
  }

  /** Doubles with each failure. Jitter from half to all of it keeps many proxies from retrying together. */
  async #pause(): Promise<void> {
    const { leastPauseMs, mostPauseMs } = this.#pace;
    const { clock, random } = this.#options;
    const { signal } = this.#stopping;
    const wholeMs = Math.min(mostPauseMs, leastPauseMs * 2 ** Math.min(20, Math.max(0, this.#failures - 1)));
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.schedule(wholeMs * (0.5 + 0.5 * random()), resolve);
    const onStop = (): void => resolve();
    signal.addEventListener('abort', onStop);
    await promise;
    signal.removeEventListener('abort', onStop);
    cancel();
  }

  /** A signal that fires at the end of this object, or after `ms` without a renewal. */
  #limit(ms: number, why: string) {
    const { clock } = this.#options;
    const late = new AbortController();
    const begin = (): (() => void) => clock.schedule(ms, () => late.abort(new ExchangeError('timeout', why)));
    let cancel = begin();
    return {
      signal: AbortSignal.any([late.signal, this.#stopping.signal]),
      end: () => cancel(),
      renew: () => {
        cancel();
        cancel = begin();
      },
    };
  }
}

const CUT_OFF = 'the stream ended in the middle of an event';

const ADVICE: Readonly<Record<number, string>> = {
  401: 'the token is not accepted',
  403: 'the service account may not list and watch them (its Role needs get, list and watch)',
};

function refused(status: number, body: string): WatchEnd {
  if (status === 410) return { kind: 'gone' };
  const words = [ADVICE[status], readStatus(parseJson(body)).message].filter(
    (part) => part !== undefined && part !== '',
  );
  return {
    kind: 'failed',
    why: `the API server answered ${status}${words.length === 0 ? '' : `: ${words.join(': ')}`}`,
  };
}

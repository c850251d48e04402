// Lookups with memory: a time limit for each, one lookup per name at a time, none while the last result is fresh. While
// lookups fail the last good result stays: an outage of the name server must not change the member list.
import { errorCode } from '../model/errno.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { withTimeout } from '../model/with-timeout.ts';

export interface LookupAnswer<T> {
  readonly value: T;
  /** How long the value is used without another lookup. Milliseconds. */
  readonly freshMs: number;
}

/** Since when lookups fail, and why. */
export interface Stale {
  readonly since: Instant;
  readonly why: string;
}

export type LastGoodResult<T> =
  /** `stale`: the lookup failed, this is the last good value. */
  | { readonly kind: 'known'; readonly value: T; readonly stale: Stale | undefined }
  | { readonly kind: 'unknown'; readonly why: string };

export interface LastGoodOptions<T> {
  /** Rejects with the problem. `known`: the last good value. */
  readonly lookUp: (name: string, known: T | undefined) => Promise<LookupAnswer<T>>;
  readonly clock: Clock;
  /** Limit for one call. The lookup may take longer; later calls share it. Milliseconds. */
  readonly timeoutMs: number;
}

/** Names remembered. A hostile document could name new ones without end. */
const MAX_REMEMBERED = 512;
/** Lookups under way at one time. */
const MAX_LOOKUPS = 256;

/** Without a problem there is a new value. */
interface LookupEnd {
  readonly why?: string;
}

interface KeptValue<T> {
  readonly value: T;
  readonly freshUntil: Instant;
  readonly stale: Stale | undefined;
}

/** Never rejects. */
export function createLastGood<T>({
  lookUp,
  clock,
  timeoutMs,
}: LastGoodOptions<T>): (name: string) => Promise<LastGoodResult<T>> {
  const known = new Map<string, KeptValue<T>>();
  const lookups = new Map<string, Promise<LookupEnd>>();

  function remember(name: string, { value, freshMs }: LookupAnswer<T>): void {
    known.delete(name);
    known.set(name, { value, freshUntil: clock.now() + freshMs, stale: undefined });
    const oldest = known.keys().next();
    if (known.size > MAX_REMEMBERED && oldest.done !== true) known.delete(oldest.value);
  }

  async function refresh(name: string): Promise<LookupEnd> {
    try {
      remember(name, await lookUp(name, known.get(name)?.value));
      return {};
    } catch (error) {
      return { why: problem(error) };
    }
  }

  function lookUpOnce(name: string): Promise<LookupEnd> {
    const open = lookups.get(name);
    if (open !== undefined) return open;
    if (lookups.size >= MAX_LOOKUPS) return Promise.resolve({ why: 'too many names are being looked up' });
    const begun = refresh(name).finally(() => lookups.delete(name));
    lookups.set(name, begun);
    return begun;
  }

  return async (name) => {
    const calledAt = clock.now();
    const fresh = known.get(name);
    if (fresh !== undefined && calledAt < fresh.freshUntil)
      return { kind: 'known', value: fresh.value, stale: undefined };
    const ended = await withTimeout(clock, timeoutMs, lookUpOnce(name));
    const { why } = ended ?? { why: `no answer within ${timeoutMs} ms` };
    const last = known.get(name);
    if (last === undefined) return { kind: 'unknown', why: why ?? 'no answer' };
    if (why === undefined) return { kind: 'known', value: last.value, stale: undefined };
    const stale = { since: last.stale?.since ?? calledAt, why };
    known.set(name, { ...last, stale });
    return { kind: 'known', value: last.value, stale };
  };
}

function problem(error: unknown): string {
  if (!(error instanceof Error)) return 'the lookup failed';
  return errorCode(error) || error.message;
}

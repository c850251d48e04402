// Answers that outlive their source. Bounded in time whatever the source does, one question per name at a time, not asked again
// while the answer is fresh, and the last good answer stands while there is no other: a name server's bad day must not move the cluster.
import type { Clock, Instant } from '../model/instant.ts';

export interface Answered<T> {
  readonly value: T;
  /** How long it may be repeated without asking; milliseconds. */
  readonly freshMs: number;
}

/** Since when a source has given nothing new, and why. */
export interface Stale {
  readonly since: Instant;
  readonly why: string;
}

export type Recalled<T> =
  /** `stale`: there is no answer now; this is the one it last had. */
  | { readonly kind: 'known'; readonly value: T; readonly stale: Stale | undefined }
  | { readonly kind: 'unknown'; readonly why: string };

export interface LastGoodOptions<T> {
  /** Rejects with what went wrong; `known` is what it answered before. */
  readonly ask: (name: string, known: T | undefined) => Promise<Answered<T>>;
  readonly clock: Clock;
  /** For each answer; the question itself may go on and is shared with those who ask again. Milliseconds. */
  readonly timeoutMs: number;
}

/** Names remembered; documents are hostile bytes and could name ever new ones. */
const MAX_REMEMBERED = 512;
/** Questions under way at one time. */
const MAX_ASKING = 256;

interface Known<T> {
  readonly value: T;
  readonly freshUntil: Instant;
  readonly stale: Stale | undefined;
}

/** Never rejects. */
export function createLastGood<T>({
  ask,
  clock,
  timeoutMs,
}: LastGoodOptions<T>): (name: string) => Promise<Recalled<T>> {
  const known = new Map<string, Known<T>>();
  const asking = new Map<string, Promise<string | undefined>>();

  function remember(name: string, { value, freshMs }: Answered<T>): void {
    known.delete(name);
    known.set(name, { value, freshUntil: clock.now() + freshMs, stale: undefined });
    const oldest = known.keys().next();
    if (known.size > MAX_REMEMBERED && oldest.done !== true) known.delete(oldest.value);
  }

  /** Settles with undefined when `known` has a new answer, else with what went wrong. */
  async function look(name: string): Promise<string | undefined> {
    try {
      remember(name, await ask(name, known.get(name)?.value));
      return undefined;
    } catch (error) {
      return problem(error);
    }
  }

  function question(name: string): Promise<string | undefined> {
    const open = asking.get(name);
    if (open !== undefined) return open;
    if (asking.size >= MAX_ASKING) return Promise.resolve('too many names are being looked up');
    const begun = look(name).finally(() => asking.delete(name));
    asking.set(name, begun);
    return begun;
  }

  return async (name) => {
    const askedAt = clock.now();
    const fresh = known.get(name);
    if (fresh !== undefined && askedAt < fresh.freshUntil)
      return { kind: 'known', value: fresh.value, stale: undefined };
    const why = await withinTime(clock, timeoutMs, question(name));
    const last = known.get(name);
    if (last === undefined) return { kind: 'unknown', why: why ?? 'no answer' };
    if (why === undefined) return { kind: 'known', value: last.value, stale: undefined };
    const stale = { since: last.stale?.since ?? askedAt, why };
    known.set(name, { ...last, stale });
    return { kind: 'known', value: last.value, stale };
  };
}

function problem(error: unknown): string {
  if (!(error instanceof Error)) return 'the lookup failed';
  return 'code' in error ? String(error.code) : error.message;
}

async function withinTime(
  clock: Clock,
  timeoutMs: number,
  question: Promise<string | undefined>,
): Promise<string | undefined> {
  const { promise: tooLate, resolve } = Promise.withResolvers<string>();
  const cancel = clock.schedule(timeoutMs, () => resolve(`no answer within ${timeoutMs} ms`));
  try {
    return await Promise.race([question, tooLate]);
  } finally {
    cancel();
  }
}

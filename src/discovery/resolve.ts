// Names to addresses, each remembered as last-good.ts does.
import type { Clock } from '../model/instant.ts';
import { shown } from '../model/printable.ts';
import { normalizeAddress } from './addresses.ts';
import { createLastGood } from './last-good.ts';
import type { Stale } from './last-good.ts';

/** All addresses of a name, in the resolver's order, and how long they may be repeated (milliseconds; absent: ask again). */
export interface Found {
  readonly addresses: readonly string[];
  readonly ttlMs?: number | undefined;
}

/** Rejects when there is no address. */
export type Lookup = (host: string) => Promise<Found>;

type Addresses = readonly [string, ...string[]];

export type Resolution =
  /** `stale`: the name could not be resolved now; these are the addresses it last had. */
  | { readonly kind: 'resolved'; readonly addresses: Addresses; readonly stale: Stale | undefined }
  | { readonly kind: 'unresolved'; readonly why: string };

export type Resolve = (host: string) => Promise<Resolution>;

/** Addresses kept of one name. */
const MAX_ADDRESSES = 16;
/** How long an answer is repeated, whatever its TTL says. Milliseconds. */
const LEAST_FRESH_MS = 5000;
const MOST_FRESH_MS = 60_000;

/** Never rejects. `timeoutMs` bounds each answer. */
export function createResolve(lookup: Lookup, clock: Clock, timeoutMs = 2000): Resolve {
  const recall = createLastGood<Addresses>({
    clock,
    timeoutMs,
    ask: async (host, known) => {
      const { addresses, ttlMs } = await lookup(host);
      return { value: ordered(addresses, known?.[0]), freshMs: freshFor(ttlMs) };
    },
  });
  return async (host) => {
    const literal = normalizeAddress(host);
    if (literal !== undefined) return { kind: 'resolved', addresses: [literal], stale: undefined };
    const recalled = await recall(host);
    if (recalled.kind === 'known') return { kind: 'resolved', addresses: recalled.value, stale: recalled.stale };
    return { kind: 'unresolved', why: `${shown(host)} could not be resolved: ${recalled.why}` };
  };
}

/** Servers rotate their answers: an address in use stays in front while the name still has it. */
function ordered(found: readonly string[], inUse: string | undefined): Addresses {
  const normal = found.flatMap((address) => normalizeAddress(address) ?? []);
  const kept = inUse !== undefined && normal.includes(inUse) ? [inUse] : [];
  const [first, ...rest] = [...new Set([...kept, ...normal])].slice(0, MAX_ADDRESSES);
  if (first === undefined) throw new Error('no address');
  return [first, ...rest];
}

/** Zero where nothing is known of it: whoever answered keeps what it likes. */
export function freshFor(ttlMs: number | undefined): number {
  return ttlMs === undefined ? 0 : Math.min(MOST_FRESH_MS, Math.max(LEAST_FRESH_MS, ttlMs));
}

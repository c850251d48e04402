// Resolves names to addresses, with the memory of last-good.ts.
import type { Clock } from '../model/instant.ts';
import { shown } from '../model/printable.ts';
import { normalizeAddress } from './never-contacted.ts';
import { createLastGood, type Stale } from './last-good.ts';

/** All addresses of a name in the resolver's order, and how long they stay fresh (milliseconds; absent: not at all). */
export interface NameAddresses {
  readonly addresses: readonly string[];
  readonly ttlMs?: number | undefined;
}

/** Rejects when there is no address. */
export type Lookup = (host: string) => Promise<NameAddresses>;

type AddressList = readonly [string, ...string[]];

export type Resolution =
  /** `stale`: the lookup failed, these are the last known addresses. */
  | { readonly kind: 'resolved'; readonly addresses: AddressList; readonly stale: Stale | undefined }
  | { readonly kind: 'unresolved'; readonly why: string };

export type Resolve = (host: string) => Promise<Resolution>;

/** Limit on addresses kept for one name. */
const MAX_ADDRESSES = 16;
/** A TTL is clamped to this range. Milliseconds. */
const MIN_FRESH_MS = 5000;
const MAX_FRESH_MS = 60_000;

/** Never rejects. `timeoutMs` is the limit for each call. */
export function createResolve(lookup: Lookup, clock: Clock, timeoutMs = 2000): Resolve {
  const recall = createLastGood<AddressList>({
    clock,
    timeoutMs,
    lookUp: async (host, known) => {
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

/** Servers rotate their answers: the address in use stays first while the name still has it. */
function ordered(found: readonly string[], inUse: string | undefined): AddressList {
  const normal = found.flatMap((address) => normalizeAddress(address) ?? []);
  const kept = inUse !== undefined && normal.includes(inUse) ? [inUse] : [];
  const [first, ...rest] = [...new Set([...kept, ...normal])].slice(0, MAX_ADDRESSES);
  if (first === undefined) throw new Error('no address');
  return [first, ...rest];
}

/** 0 without a TTL: the system's resolver has its own cache. */
export function freshFor(ttlMs: number | undefined): number {
  return ttlMs === undefined ? 0 : Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, ttlMs));
}

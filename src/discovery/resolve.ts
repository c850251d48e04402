// Names to addresses. Bounded in time whatever the resolver does, one question per name at a time, and the last good answer
// stands while DNS fails: a name server's bad day must not move the cluster.
import { lookup as lookupAll } from 'node:dns/promises';
import type { Clock } from '../core/instant.ts';
import { normalizeAddress } from './addresses.ts';

/** All addresses of a name, in the resolver's order. Rejects when there is none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export type Resolution =
  /** `isStale`: the name could not be resolved now; these are the addresses it last had. */
  | { readonly kind: 'resolved'; readonly addresses: readonly [string, ...string[]]; readonly isStale: boolean }
  | { readonly kind: 'unresolved'; readonly why: string };

export type Resolve = (host: string) => Promise<Resolution>;

/** Names remembered; documents are hostile bytes and could name ever new ones. */
const MAX_REMEMBERED = 512;
/** Lookups under way at one time. */
const MAX_ASKING = 256;
/** Addresses kept of one name. */
const MAX_ADDRESSES = 16;

/** Never rejects. `timeoutMs` bounds each answer; the question itself may go on and is shared with those who ask again. */
export function createResolve(lookup: Lookup, clock: Clock, timeoutMs = 2000): Resolve {
  const known = new Map<string, readonly [string, ...string[]]>();
  const asking = new Map<string, Promise<string | undefined>>();

  function remember(host: string, found: readonly string[]): boolean {
    // Servers rotate their answers: an address in use stays in front while the name still has it.
    const inUse = known.get(host)?.[0];
    const kept = inUse !== undefined && found.includes(inUse) ? [inUse] : [];
    const [first, ...rest] = [...new Set([...kept, ...found])].slice(0, MAX_ADDRESSES);
    if (first === undefined) return false;
    known.delete(host);
    known.set(host, [first, ...rest]);
    const oldest = known.keys().next();
    if (known.size > MAX_REMEMBERED && oldest.done !== true) known.delete(oldest.value);
    return true;
  }

  /** Settles with undefined when `known` has a new answer, else with what went wrong. */
  async function look(host: string): Promise<string | undefined> {
    try {
      const found = await lookup(host);
      return remember(
        host,
        found.flatMap((address) => normalizeAddress(address) ?? []),
      )
        ? undefined
        : 'no address';
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'the lookup failed';
    }
  }

  function ask(host: string): Promise<string | undefined> {
    const open = asking.get(host);
    if (open !== undefined) return open;
    if (asking.size >= MAX_ASKING) return Promise.resolve('too many names are being looked up');
    const question = look(host).finally(() => asking.delete(host));
    asking.set(host, question);
    return question;
  }

  return async (host) => {
    const literal = normalizeAddress(host);
    if (literal !== undefined) return { kind: 'resolved', addresses: [literal], isStale: false };
    const problem = await withinTime(clock, timeoutMs, ask(host));
    const addresses = known.get(host);
    if (addresses !== undefined) return { kind: 'resolved', addresses, isStale: problem !== undefined };
    return { kind: 'unresolved', why: `${host} could not be resolved: ${problem ?? 'no answer'}` };
  };
}

/** getaddrinfo, so that /etc/hosts counts. IPv4 first: `localhost` should find what listens on 127.0.0.1. */
export async function systemLookup(host: string): Promise<readonly string[]> {
  const found = await lookupAll(host, { all: true, order: 'ipv4first' });
  return found.map((entry) => entry.address);
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

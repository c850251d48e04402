// Where the Pointsmen are that the setting `peers` names. A headless Service has the addresses of all its pods.
import { createNameServer } from '../discovery/name-server.ts';
import { createResolve, type Lookup } from '../discovery/resolve.ts';
import { locate } from '../discovery/seeds.ts';
import type { Clock } from '../model/instant.ts';
import type { LocatePeer } from '../proxy/options.ts';

/** A cancel waits for no name server that is slow: the last known addresses are used. Milliseconds. */
const LOOKUP_MS = 250;
/** The answer for a name without a TTL is used for so long: not each cancel request is a lookup. Milliseconds. */
const FRESH_MS = 5_000;

export function createLocatePeer(clock: Clock, lookup: Lookup = createNameServer().lookup): LocatePeer {
  const resolve = createResolve(async (host) => ({ ttlMs: FRESH_MS, ...(await lookup(host)) }), clock, LOOKUP_MS);
  return async (peer) => (await locate('postgres', peer, resolve)).usable;
}

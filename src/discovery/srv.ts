// Looks up SRV records (RFC 2782) with the memory of last-good.ts: hosts and ports of APIs, and their order. A record
// never says which member a host is.
import type { Clock } from '../model/instant.ts';
import { createLastGood, type LastGoodResult } from './last-good.ts';
import type { LookupSrv, SrvRecord } from './name-server.ts';

export type ResolveSrv = (name: string) => Promise<LastGoodResult<readonly SrvRecord[]>>;

/** Limit on records kept for one name. */
const MAX_RECORDS = 32;

export function createResolveSrv(lookup: LookupSrv, clock: Clock, timeoutMs: number): ResolveSrv {
  return createLastGood({
    clock,
    timeoutMs,
    // Node reports no TTL for SRV records, so each call looks them up.
    lookUp: async (name) => ({ value: inOrder(await lookup(name)), freshMs: 0 }),
  });
}

/** By priority, then by weight (heavier first), then by name, so that the same records give the same list. */
function inOrder(records: readonly SrvRecord[]): readonly SrvRecord[] {
  // A single "." means that the service does not exist.
  const usable = records.filter(({ target, port }) => target !== '' && target !== '.' && port > 0);
  if (usable.length === 0) throw new Error('no record that names a host');
  return usable
    .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight || (a.target < b.target ? -1 : 1))
    .slice(0, MAX_RECORDS);
}

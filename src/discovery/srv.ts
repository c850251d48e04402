// SRV records (RFC 2782), each name's remembered as last-good.ts does: which hosts have an API, at which port, and in which order they
// are to be asked. What a record says is a host and a port, never who a member is.
import type { Clock } from '../model/instant.ts';
import { createLastGood } from './last-good.ts';
import type { Recalled } from './last-good.ts';
import type { LookupSrv, SrvRecord } from './name-server.ts';

export type ResolveSrv = (name: string) => Promise<Recalled<readonly SrvRecord[]>>;

/** Records kept of one name. */
const MAX_RECORDS = 32;

export function createResolveSrv(lookup: LookupSrv, clock: Clock, timeoutMs: number): ResolveSrv {
  return createLastGood({
    clock,
    timeoutMs,
    // Node tells no TTL of these: they are asked for whenever somebody wants to know.
    ask: async (name) => ({ value: inOrder(await lookup(name)), freshMs: 0 }),
  });
}

/** By priority, the heavier first; names break the tie, so that the same records are always the same list. */
function inOrder(records: readonly SrvRecord[]): readonly SrvRecord[] {
  // A single "." says that the service is decidedly not there.
  const usable = records.filter(({ target, port }) => target !== '' && target !== '.' && port > 0);
  if (usable.length === 0) throw new Error('no record that names a host');
  return usable
    .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight || (a.target < b.target ? -1 : 1))
    .slice(0, MAX_RECORDS);
}

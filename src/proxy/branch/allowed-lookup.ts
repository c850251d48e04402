// Addresses that no branch may lead to, whatever its host says (discovery/never-contacted.ts).
import type { LookupFunction } from 'node:net';
import { forbiddenKind } from '../../discovery/never-contacted.ts';

/** Why the address is never contacted; undefined: it may be. */
export function whyForbidden(address: string): string | undefined {
  const kind = forbiddenKind(address);
  return kind === undefined ? undefined : `its host is ${kind}, which is never contacted`;
}

/** Leaves those addresses of a name out. A name that has no others fails. */
export function allowedLookup(lookup: LookupFunction): LookupFunction {
  return (host, options, callback) =>
    lookup(host, options, (error, found, family) => {
      // Node gives no addresses with an error.
      if (error !== null) return callback(error, found, family);
      const all = typeof found === 'string' ? [{ address: found, family: family ?? 0 }] : found;
      const allowed = all.filter(({ address }) => whyForbidden(address) === undefined);
      const why = allowed.length === 0 ? whyForbidden(all[0]?.address ?? '') : undefined;
      if (why !== undefined) return callback(new Error(why), '', 0);
      return typeof found === 'string' ? callback(null, found, family) : callback(null, allowed);
    });
}

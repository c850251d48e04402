// Opens a connection to the server of a session or of a cancel request, whatever it is. Some addresses no branch may
// lead to, whatever its host says (discovery/never-contacted.ts).
import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { forbiddenKind } from '../../discovery/never-contacted.ts';
import type { Dial, DialServer } from '../server.ts';
import { tlsDial } from './dial-tls.ts';
import { BackendTrust, type BackendTrustOptions } from './backend-trust.ts';
import { limitedLookup } from './limited-lookup.ts';

export interface DialServerOptions extends BackendTrustOptions {
  readonly dial: Dial;
  /** The authorities for TLS to branches, at the time of the connect: a PEM file, or undefined for the system's. */
  readonly caFile: () => string | undefined;
}

export function serverDialer({ dial, caFile, ...options }: DialServerOptions): DialServer {
  const trust = new BackendTrust(options);
  const dialTls = tlsDial(dial, () => trust.get(caFile()));
  const lookup = allowedLookup(limitedLookup(resolveName));
  return (server, limits, onResult) => {
    if (!('branch' in server)) return dial(server.address, limits, onResult);
    const { host } = server.address;
    const detail = isIP(host) === 0 ? undefined : whyForbidden(host);
    const refusal = { kind: 'failed', outcome: 'failed', isLocalFault: false, isLasting: true } as const;
    if (detail !== undefined) return limits.clock.schedule(0, () => onResult({ ...refusal, detail }));
    return (server.tls === 'require' ? dialTls : dial)(server.address, { ...limits, lookup }, onResult);
  };
}

/** Why the address is never contacted; undefined: it may be. */
function whyForbidden(address: string): string | undefined {
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

// Opens a connection to the server of a session or of a cancel request, whatever it is.
import { lookup as resolveName } from 'node:dns';
import { isIP } from 'node:net';
import type { Dial, DialServer } from '../server.ts';
import { allowedLookup, whyForbidden } from './allowed-lookup.ts';
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

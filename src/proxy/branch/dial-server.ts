// Opens a connection to the server of a session or of a cancel request, whatever it is. Some addresses no branch may
// lead to, whatever its host says (discovery/never-contacted.ts).
import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { forbiddenKind } from '../../discovery/never-contacted.ts';
import type { MemberTls } from '../../model/member-tls.ts';
import { memberDial } from '../connect/tls/member-dial.ts';
import { tlsDial } from '../connect/tls/dial-tls.ts';
import type { TlsWords } from '../connect/tls/encrypt-server.ts';
import { ServerTrust, type ServerTrustOptions } from '../connect/tls/server-trust.ts';
import type { Dial, DialServer } from '../server.ts';
import { limitedLookup } from './limited-lookup.ts';

export interface DialServerOptions extends Omit<ServerTrustOptions, 'section' | 'validMs'> {
  readonly dial: Dial;
  /** The authorities for TLS to branches, at the time of the connect: a PEM file, or undefined for the system's. */
  readonly caFile: () => string | undefined;
  /** At the time of the connect. Undefined: members are reached in plain text. */
  readonly memberTls: () => MemberTls | undefined;
}

/** Details name neither host nor file, because clients read them. */
const WORDS: TlsWords = {
  server: 'the backend',
  required: 'branches.backends.tls is require',
  authorities: 'branches.backends.ca_file',
  name: 'its host name',
};
/** At least as libpq and PostgreSQL. */
const BRANCH_TLS = { crlFile: undefined, pair: undefined, minVersion: 'TLSv1.2' } as const;

export function serverDialer(options: DialServerOptions): DialServer {
  const { dial, caFile } = options;
  const trust = new ServerTrust({ ...options, section: 'branches.backends', validMs: 0 });
  const branchTrust = () => trust.get({ ...BRANCH_TLS, caFile: caFile() });
  const dialTls = tlsDial(dial, { checksName: true, isDirect: false, words: WORDS, trust: branchTrust });
  const dialMember = memberDial(options);
  const lookup = allowedLookup(limitedLookup(resolveName));
  return (server, limits, onResult) => {
    if (!('branch' in server)) return dialMember(server, limits, onResult);
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

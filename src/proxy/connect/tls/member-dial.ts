// Opens a connection to a member: in plain text, or with TLS by `backend.tls`. Nothing leads from TLS back to plain
// text.
import type { Socket } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type { Target } from '../../../core/routing-table.ts';
import type { Clock } from '../../../model/instant.ts';
import type { MemberName } from '../../../model/member.ts';
import type { MemberTls } from '../../../model/member-tls.ts';
import { nothing } from '../../../model/once.ts';
import type { ProxyEvent } from '../../../reports/events.ts';
import type { Dial, DialLimits, DialResult } from '../../server.ts';
import { nodeTls } from '../../startup/tls-handshake.ts';
import { nodeSocket } from '../../plain/plain-socket.ts';
import type { ProxySocket } from '../../socket.ts';
import { tlsDial } from './dial-tls.ts';
import { ownCertificateFault, type TlsFailure } from './encrypt-server.ts';
import { ServerTrust, type ServerTrustOptions } from './server-trust.ts';

export interface MemberDialOptions extends Omit<ServerTrustOptions, 'section' | 'validMs' | 'cleanses'> {
  readonly dial: Dial;
  /** At the time of the connect. Undefined: plain text. */
  readonly memberTls: () => MemberTls | undefined;
}

const REREAD_MS = 5_000;
/** For TCP and TLS together. On a busy host they take seconds, and an attempt begins anew. Milliseconds. */
const CONNECT_MS = 10_000;

export type MemberServer = Pick<Target, 'member' | 'address'>;
type MemberDial = (server: MemberServer, limits: DialLimits, onResult: (result: DialResult) => void) => () => void;

/**
 * For connections of Pointsman's own: the same as a promise, which rejects with the words of the fault. `bringsSecret`:
 * lookups of verifiers.
 */
export function memberConnect<OneServer>(
  dial: (server: OneServer, limits: DialLimits, onResult: (result: DialResult) => void) => () => void,
  clock: Clock,
  bringsSecret = true,
) {
  return (server: OneServer) =>
    (signal: AbortSignal): Promise<Socket> => {
      const { promise, resolve, reject } = Promise.withResolvers<Socket>();
      const abort = dial(server, { clock, timeoutMs: CONNECT_MS, bringsSecret }, (result) => {
        if (result.kind === 'connected') resolve(nodeSocket(result.socket));
        else reject(new Error(result.detail));
      });
      const giveUp = (): void => {
        abort();
        reject(new Error('given up'));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      return promise;
    };
}

export function memberDial(options: MemberDialOptions): MemberDial {
  const { dial, memberTls, onEvent } = options;
  const reading = { ...options, section: 'backend.tls', validMs: REREAD_MS };
  const trust = new ServerTrust(reading);
  // Overwriting costs 4 % of a round trip, so sessions do without. Their connects report the faults of the files.
  const cleansing = new ServerTrust({ ...reading, cleanses: true, onEvent: nothing });
  return ({ member, address }, limits, onResult) => {
    const tls = memberTls();
    if (tls === undefined || limits.isEncrypted === true) return dial(address, limits, onResult);
    const name = nameOf(tls, { member, address });
    const dialTls = tlsDial(dial, {
      name,
      checksName: tls.mode === 'verify-full',
      isDirect: tls.negotiation === 'direct',
      words: {
        server: 'the server',
        required: `backend.tls.mode is ${tls.mode}`,
        authorities: AUTHORITIES,
        // Clients read it, and no message for them names an address.
        name: tls.serverName === undefined ? 'its address' : name,
      },
      trust: () => (limits.bringsSecret === true ? cleansing : trust).get(tls),
    });
    return dialTls(address, limits, (result) => {
      const event = eventOf(member, result);
      if (event !== undefined) onEvent(event);
      if (result.kind === 'connected') reportRefusal(result.socket, member, onEvent);
      onResult(result);
    });
  };
}

/** The socket keeps the listener, with what is in scope here, for the whole session. */
function reportRefusal(socket: ProxySocket, member: MemberName, onEvent: MemberDialOptions['onEvent']): void {
  socket.once('error', (error) => {
    const failure = ownCertificateFault(error);
    if (failure !== undefined) onEvent(failedEvent(member, failure));
  });
}

/** The name that the certificate of a member must have, which is its server name (SNI), too. */
export function nameOf({ serverName }: MemberTls, { member, address }: MemberServer): string {
  return serverName?.replaceAll('{member}', member) ?? address.host;
}

const AUTHORITIES = 'backend.tls.ca_file';

/** Undefined: it says nothing about the member's TLS. */
function eventOf(member: MemberName, result: DialResult): ProxyEvent | undefined {
  if (result.kind === 'failed') {
    const { tlsFault: fault, detail } = result;
    return fault === undefined ? undefined : failedEvent(member, { fault, detail });
  }
  const { socket } = result;
  if (!(socket instanceof nodeTls().TLSSocket)) return undefined;
  // getPeerX509Certificate would take the certificate away from the next reader (Node 24.21).
  const expiresAt = endOf(socket.getPeerCertificate());
  const ownExpiresAt = endOf(socket.getCertificate());
  if (expiresAt === undefined) return undefined;
  return { kind: 'member_tls_verified', member, expiresAt, ...(ownExpiresAt !== undefined && { ownExpiresAt }) };
}

/** Milliseconds since 1970. */
function endOf(certificate: PeerCertificate | object | null): number | undefined {
  return certificate !== null && 'valid_to' in certificate ? Date.parse(certificate.valid_to) : undefined;
}

function failedEvent(member: MemberName, { fault, detail }: TlsFailure): ProxyEvent {
  return { kind: 'member_tls_failed', member, reason: fault, why: detail };
}

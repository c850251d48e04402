// TLS with each member for `check --live`: what it offers, and whether `backend.tls` accepts it. Without a login.
import { isIP } from 'node:net';
import type { X509Certificate } from 'node:crypto';
import type { MemberCertificate, MemberTlsReport, TlsReport } from '../cli/member-tls-report.ts';
import type { Config } from '../config/config.ts';
import { readKeyPair } from '../config/files/key-pair.ts';
import { readPem } from '../config/files/pem.ts';
import type { Clock } from '../model/instant.ts';
import { shown } from '../model/printable.ts';
import { dialTcp } from '../proxy/connect/dial.ts';
import { memberDial, nameOf, type MemberServer } from '../proxy/connect/tls/member-dial.ts';
import { ownCertificateFault } from '../proxy/connect/tls/encrypt-server.ts';
import { tlsOffer } from '../proxy/connect/tls/tls-offer.ts';
import type { DialLimits, DialResult } from '../proxy/server.ts';
import type { ProxySocket } from '../proxy/socket.ts';

/** Never rejects. Settles within three times the limit of a connect. */
export async function checkMemberTls(
  { backend }: Pick<Config, 'backend'>,
  members: readonly MemberServer[],
  clock: Clock,
): Promise<TlsReport> {
  const { tls, connectTimeoutMs: timeoutMs } = backend;
  const dial = memberDial({ clock, readPem, readKeyPair, onEvent: () => {}, dial: dialTcp, memberTls: () => tls });
  const verify = async (server: MemberServer): Promise<string | undefined> => {
    const { promise, resolve } = Promise.withResolvers<DialResult>();
    dial(server, { clock, timeoutMs }, resolve);
    const result = await promise;
    return result.kind === 'failed' ? result.detail : objectionOf(result.socket, { clock, timeoutMs });
  };
  const check = async (server: MemberServer): Promise<MemberTlsReport> => {
    const { member, address } = server;
    const [offer, why] = await Promise.all([
      tlsOffer(address, tls === undefined ? address.host : nameOf(tls, server), timeoutMs),
      tls && verify(server),
    ]);
    const certificate = offer.kind === 'offered' ? certificateOf(offer.certificate, address.host) : undefined;
    return { member, offer: offer.kind, certificate, why };
  };
  return { mode: tls?.mode ?? 'off', members: await Promise.all(members.map(check)) };
}

/** With TLS 1.3 a server verifies Pointsman's certificate behind the handshake: it objects before it closes. */
function objectionOf(socket: ProxySocket, { clock, timeoutMs }: DialLimits): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const finish = (why?: string): void => {
    cancelWait();
    socket.destroy();
    resolve(why);
  };
  const cancelWait = clock.schedule(timeoutMs, finish);
  const failed = (error: Error): void => finish(ownCertificateFault(error)?.detail);
  socket
    .on('error', failed)
    .on('end', finish)
    .on('close', () => finish());
  socket.resume().end();
  return promise;
}

function certificateOf(certificate: X509Certificate, host: string): MemberCertificate {
  const { subject, subjectAltName, validToDate } = certificate;
  const alternatives = subjectAltName?.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''));
  const names = alternatives ?? [/^CN=(.*)$/m.exec(subject)?.[1] ?? ''].filter((name) => name !== '');
  const match = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return { names: names.map(shown), expiresAt: validToDate.getTime(), isForHost: match !== undefined };
}

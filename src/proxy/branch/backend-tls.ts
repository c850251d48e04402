// Encrypts a connection to a branch backend: SSLRequest, `S`, then a handshake with the host as the server name (SNI)
// and a verified certificate. Nothing else is sent before, and never anything in plain text. Reports once, and nothing
// after an abort. The deadline is the caller's. Details name neither host nor file, because clients read them.
import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { NOT_SUPPORTED, SUPPORTED } from '../../wire/messages/error-response.ts';
import { SSL_REQUEST_PACKET } from '../../wire/startup/startup.ts';
import { carry, ignoreErrors } from '../socket.ts';
import { ALPN_PROTOCOL, nodeTls } from '../startup/tls-handshake.ts';

export interface BackendTlsOptions {
  /** Connected and unused. It belongs to this function, and then to the TLS socket. */
  readonly socket: Socket;
  /** A name or an IP address: the certificate must be for it. */
  readonly host: string;
  readonly context: SecureContext;
  /** The caller must listen to the socket synchronously. Destroying it destroys the connection. */
  readonly onSecure: (socket: Socket) => void;
  /** The connection is closed. */
  readonly onFailed: (failure: BackendTlsFailure) => void;
}

export interface BackendTlsFailure {
  /** For a message. */
  readonly detail: string;
  /** Another attempt gives the same result, until somebody changes a certificate or a setting. */
  readonly isLasting: boolean;
}

/** Returns the abort, which closes the connection; it is idempotent, and does nothing after a report. */
export function encryptBackend(options: BackendTlsOptions): () => void {
  const { socket, onFailed } = options;
  let abortHandshake: (() => void) | undefined;
  const leave = (): void => {
    socket.off('data', answered).off('end', closed).off('close', closed);
  };
  const failed = (detail: string, isLasting: boolean): void => {
    leave();
    socket.destroy();
    onFailed({ detail, isLasting });
  };
  const closed = (): void => failed('the backend closed the connection after the request for TLS', false);
  const answered = (bytes: Uint8Array): void => {
    if (bytes[0] === NOT_SUPPORTED[0]) return failed('the backend has no TLS (branches.backends.tls is require)', true);
    if (bytes[0] !== SUPPORTED[0]) return failed('the backend answered the request for TLS with an error', false);
    // Bytes before the handshake are not encrypted and may come from an attacker (CVE-2021-23222).
    if (bytes.length > 1) return failed('the backend sent unencrypted data before the TLS handshake', false);
    leave();
    socket.pause();
    abortHandshake = shakeHands(options);
  };
  socket.on('data', answered).on('end', closed).on('close', closed);
  if (socket.destroyed) closed();
  else socket.write(SSL_REQUEST_PACKET);
  return () => {
    if (abortHandshake !== undefined) return abortHandshake();
    leave();
    socket.destroy();
  };
}

function shakeHands({ socket, host, context, onSecure, onFailed }: BackendTlsOptions): () => void {
  const { connect } = nodeTls();
  const secured = connect({
    socket,
    host,
    // An IP address is no server name (RFC 6066, 3), and a name has no dot behind it.
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    secureContext: context,
    rejectUnauthorized: true,
    ALPNProtocols: [ALPN_PROTOCOL],
  });
  carry(secured, socket);
  ignoreErrors(secured);
  let isDone = false;
  const leave = (): void => {
    isDone = true;
    secured.off('secureConnect', secure).off('error', failed).off('end', left).off('close', left);
  };
  const fail = (failure: BackendTlsFailure): void => {
    leave();
    secured.destroy();
    onFailed(failure);
  };
  const secure = (): void => {
    leave();
    onSecure(secured);
  };
  const failed = (error: NodeJS.ErrnoException): void => fail(failureOf(error));
  const left = (): void => fail(LEFT);
  secured.on('secureConnect', secure).on('error', failed).on('end', left).on('close', left);
  return () => {
    if (isDone) return;
    leave();
    secured.destroy();
  };
}

const LEFT: BackendTlsFailure = {
  detail: 'the backend closed the connection during the TLS handshake',
  isLasting: false,
};
const UNTRUSTED = 'no trusted authority has signed the certificate of the backend (branches.backends.ca_file)';
/** The codes of OpenSSL's verification that an operator meets. */
const CERTIFICATE_FAULTS: ReadonlyMap<string, string> = new Map([
  ['CERT_HAS_EXPIRED', 'the certificate of the backend has expired'],
  ['CERT_NOT_YET_VALID', 'the certificate of the backend is not valid yet'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
]);

function failureOf(error: NodeJS.ErrnoException): BackendTlsFailure {
  const { code = '', message } = error;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { detail: 'the certificate of the backend is not for its host name', isLasting: true };
  }
  const fault = CERTIFICATE_FAULTS.get(code);
  if (fault !== undefined) return { detail: fault, isLasting: true };
  if (code === 'ECONNRESET') return LEFT;
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : message;
  return { detail: `the TLS handshake failed: ${reason}`, isLasting: false };
}

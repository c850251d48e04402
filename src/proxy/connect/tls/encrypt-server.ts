// Encrypts a connection to a server: SSLRequest, `S`, then a handshake with a server name (SNI) and a verified
// certificate. Nothing else is sent before, and never anything in plain text. Reports once, and nothing after an abort.
// The deadline is the caller's.
import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { NOT_SUPPORTED, SUPPORTED } from '../../../wire/messages/error-response.ts';
import { SSL_REQUEST_PACKET } from '../../../wire/startup/startup.ts';
import { carry, ignoreErrors } from '../../socket.ts';
import { ALPN_PROTOCOL, nodeTls } from '../../startup/tls-handshake.ts';

export interface EncryptOptions {
  /** Connected and unused. It belongs to this function, and then to the TLS socket. */
  readonly socket: Socket;
  /** A name or an IP address. */
  readonly name: string;
  /** The certificate must be for the name. */
  readonly checksName: boolean;
  /** Without SSLRequest. */
  readonly isDirect: boolean;
  readonly context: SecureContext;
  readonly words: TlsWords;
  /** The caller must listen to the socket synchronously. Destroying it destroys the connection. */
  readonly onSecure: (socket: Socket) => void;
  /** The connection is closed. */
  readonly onFailed: (failure: TlsFailure) => void;
}

/** For messages, which clients read. */
export interface TlsWords {
  /** `the backend` */
  readonly server: string;
  /** The setting that requires TLS: `branches.backends.tls is require`. */
  readonly required: string;
  /** The setting of the authorities: `branches.backends.ca_file`. */
  readonly authorities: string;
  /** The name in the certificate: `its host name`. */
  readonly name: string;
}

export interface TlsFailure {
  /** For a message. */
  readonly detail: string;
  /** Another attempt gives the same result, until somebody changes a certificate or a setting. */
  readonly isLasting: boolean;
}

/** Returns the abort, which closes the connection; it is idempotent, and does nothing after a report. */
export function encryptServer(options: EncryptOptions): () => void {
  if (options.isDirect) return shakeHands(options);
  const { socket, words, onFailed } = options;
  const { server } = words;
  let abortHandshake: (() => void) | undefined;
  const leave = (): void => {
    socket.off('data', answered).off('end', closed).off('close', closed);
  };
  const failed = (detail: string, isLasting: boolean): void => {
    leave();
    socket.destroy();
    onFailed({ detail, isLasting });
  };
  const closed = (): void => failed(`${server} closed the connection after the request for TLS`, false);
  const answered = (bytes: Uint8Array): void => {
    if (bytes[0] === NOT_SUPPORTED[0]) return failed(`${server} has no TLS (${words.required})`, true);
    if (bytes[0] !== SUPPORTED[0]) return failed(`${server} answered the request for TLS with an error`, false);
    // Bytes before the handshake are not encrypted and may come from an attacker (CVE-2021-23222).
    if (bytes.length > 1) return failed(`${server} sent unencrypted data before the TLS handshake`, false);
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

function shakeHands({ socket, name, checksName, context, words, onSecure, onFailed }: EncryptOptions): () => void {
  const { connect, checkServerIdentity } = nodeTls();
  const secured = connect({
    socket,
    host: name,
    // An IP address is no server name (RFC 6066, 3), and a name has no dot behind it.
    servername: isIP(name) === 0 ? name.replace(/\.$/, '') : '',
    checkServerIdentity: checksName ? checkServerIdentity : () => undefined,
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
  const fail = (failure: TlsFailure): void => {
    leave();
    secured.destroy();
    onFailed(failure);
  };
  const secure = (): void => {
    leave();
    onSecure(secured);
  };
  const failed = (error: NodeJS.ErrnoException): void => fail(failureOf(error, words));
  const left = (): void => fail(leftText(words));
  secured.on('secureConnect', secure).on('error', failed).on('end', left).on('close', left);
  return () => {
    if (isDone) return;
    leave();
    secured.destroy();
  };
}

function leftText({ server }: TlsWords): TlsFailure {
  return { detail: `${server} closed the connection during the TLS handshake`, isLasting: false };
}

type CertificateFault = (words: TlsWords) => string;
const untrusted: CertificateFault = ({ server, authorities }) =>
  `no trusted authority has signed the certificate of ${server} (${authorities})`;
/** The codes of Node and of OpenSSL's verification that an operator meets. */
const CERTIFICATE_FAULTS: ReadonlyMap<string, CertificateFault> = new Map<string, CertificateFault>([
  ['ERR_TLS_CERT_ALTNAME_INVALID', ({ server, name }) => `the certificate of ${server} is not for ${name}`],
  ['CERT_HAS_EXPIRED', ({ server }) => `the certificate of ${server} has expired`],
  ['CERT_NOT_YET_VALID', ({ server }) => `the certificate of ${server} is not valid yet`],
  ['CERT_REVOKED', ({ server }) => `the certificate of ${server} is revoked`],
  ['CRL_HAS_EXPIRED', () => 'the list of revoked certificates has expired (backend.tls.crl_file)'],
  [
    'UNABLE_TO_GET_CRL',
    ({ server }) => `no list of revoked certificates is there for ${server} (backend.tls.crl_file)`,
  ],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', untrusted],
  ['SELF_SIGNED_CERT_IN_CHAIN', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', untrusted],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', untrusted],
]);

function failureOf(error: NodeJS.ErrnoException, words: TlsWords): TlsFailure {
  const { code = '', message } = error;
  const fault = CERTIFICATE_FAULTS.get(code);
  if (fault !== undefined) return { detail: fault(words), isLasting: true };
  if (code === 'ECONNRESET') return leftText(words);
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : message;
  return { detail: `the TLS handshake failed: ${reason}`, isLasting: false };
}

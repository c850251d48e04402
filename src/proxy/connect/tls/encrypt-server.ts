// Encrypts a connection to a server: SSLRequest, `S`, then a handshake with a server name (SNI) and a verified
// certificate. Nothing else is sent before, and never anything in plain text. Reports once, and nothing after an abort.
// The deadline is the caller's.
import { isIP, type Socket } from 'node:net';
import type { PeerCertificate, SecureContext, TLSSocket } from 'node:tls';
import { certificateAlert } from '../../../model/certificate-alert.ts';
import { memoized, nothing } from '../../../model/once.ts';
import type { TlsFault } from '../../../model/tls-fault.ts';
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
  readonly fault: TlsFault;
  /** For a message. */
  readonly detail: string;
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
  const failed = (fault: TlsFault, detail: string): void => {
    leave();
    socket.destroy();
    onFailed({ fault, detail });
  };
  const closed = (): void => failed('closed', `${server} closed the connection after the request for TLS`);
  const answered = (bytes: Uint8Array): void => {
    if (bytes[0] === NOT_SUPPORTED[0]) return failed('no_tls', `${server} has no TLS (${words.required})`);
    if (bytes[0] !== SUPPORTED[0]) return failed('answer', `${server} answered the request for TLS with an error`);
    // Bytes before the handshake are not encrypted and may come from an attacker (CVE-2021-23222).
    if (bytes.length > 1) return failed('answer', `${server} sent unencrypted data before the TLS handshake`);
    leave();
    socket.pause();
    abortHandshake = shakeHands(options);
  };
  socket.on('data', answered).on('end', closed).on('close', closed);
  if (hasEnded(socket)) closed();
  else socket.write(SSL_REQUEST_PACKET);
  return () => {
    if (abortHandshake !== undefined) return abortHandshake();
    leave();
    socket.destroy();
  };
}

/** The socket keeps the function, with what is in scope. */
const anyName = (): undefined => undefined;

function shakeHands({ socket, name, checksName, context, words, onSecure, onFailed }: EncryptOptions): () => void {
  if (hasEnded(socket)) {
    socket.destroy();
    onFailed(leftText(words));
    return nothing;
  }
  const { connect, checkServerIdentity } = nodeTls();
  const secured = connect({
    socket,
    host: name,
    // An IP address is no server name (RFC 6066, 3), and a name has no dot behind it.
    servername: isIP(name) === 0 ? name.replace(/\.$/, '') : '',
    checkServerIdentity: checksName ? checkServerIdentity : anyName,
    secureContext: context,
    rejectUnauthorized: true,
    ALPNProtocols: [ALPN_PROTOCOL],
  });
  const forget = translateOnce(secured);
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
    forget();
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

/**
 * Node asks for the whole chain to check the name: a tenth of the processor time of a connect. One translation of the
 * certificate serves everybody until the returned function is called. The socket keeps what is in scope here.
 */
function translateOnce(secured: TLSSocket): () => void {
  const own: { getPeerCertificate: (this: TLSSocket) => PeerCertificate } = nodeTls().TLSSocket.prototype;
  const { getPeerCertificate } = own;
  Object.assign(secured, { getPeerCertificate: memoized(() => getPeerCertificate.call(secured)) });
  // To delete the property would make the socket slower and larger.
  return () => void Object.assign(secured, { getPeerCertificate });
}

/** Its events are over: a server may close the connection before anybody listens to it. */
function hasEnded(socket: Socket): boolean {
  return socket.destroyed || socket.readableEnded;
}

function leftText({ server }: TlsWords): TlsFailure {
  return { fault: 'closed', detail: `${server} closed the connection during the TLS handshake` };
}

type CertificateFault = readonly [fault: TlsFault, text: (words: TlsWords) => string];
const untrusted: CertificateFault = [
  'untrusted',
  ({ server, authorities }) => `no trusted authority has signed the certificate of ${server} (${authorities})`,
];
const CRL = 'backend.tls.crl_file';
/** The codes of Node and of OpenSSL's verification that an operator meets. */
const CERTIFICATE_FAULTS: ReadonlyMap<string, CertificateFault> = new Map<string, CertificateFault>([
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    ['wrong_name', ({ server, name }) => `the certificate of ${server} is not for ${name}`],
  ],
  ['CERT_HAS_EXPIRED', ['expired', (words) => `${ofChain(words)} has expired`]],
  ['CERT_NOT_YET_VALID', ['not_yet_valid', (words) => `${ofChain(words)} is not valid yet`]],
  ['CERT_REVOKED', ['revoked', (words) => `${ofChain(words)} is revoked`]],
  ['CRL_HAS_EXPIRED', ['crl', () => `the list of revoked certificates has expired (${CRL})`]],
  ['CRL_NOT_YET_VALID', ['crl', () => `the list of revoked certificates is not valid yet (${CRL})`]],
  ['UNABLE_TO_GET_CRL', ['crl', ({ server }) => `no list of revoked certificates is there for ${server} (${CRL})`]],
  // The two have one name and different keys.
  ['CRL_SIGNATURE_FAILURE', ['crl', () => `another authority has signed the list of revoked certificates (${CRL})`]],
  ['CERT_SIGNATURE_FAILURE', untrusted],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', untrusted],
  ['SELF_SIGNED_CERT_IN_CHAIN', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', untrusted],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', untrusted],
]);

/** Node does not say which certificate of the chain it is. */
function ofChain({ server }: TlsWords): string {
  return `the certificate of ${server}, or that of its authority,`;
}

/**
 * The server refuses Pointsman's own certificate. With TLS 1.3 it says so behind the handshake, when the connection
 * seems to be secure already. Undefined: it is something else.
 */
export function ownCertificateFault(error: NodeJS.ErrnoException | undefined): TlsFailure | undefined {
  const alert = certificateAlert(error?.code ?? '');
  if (alert === undefined) return undefined;
  return { fault: 'own_certificate', detail: `the server refuses the certificate of Pointsman: ${alert}` };
}

function failureOf(error: NodeJS.ErrnoException, words: TlsWords): TlsFailure {
  const { code = '', message } = error;
  const own = ownCertificateFault(error);
  if (own !== undefined) return own;
  const [fault, text] = CERTIFICATE_FAULTS.get(code) ?? [];
  if (fault !== undefined && text !== undefined) return { fault, detail: text(words) };
  if (code === 'ECONNRESET') return leftText(words);
  if (isOfVerification(code)) {
    return { fault: 'untrusted', detail: `the certificate of ${words.server} cannot be verified: ${message}` };
  }
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : message;
  return { fault: 'handshake', detail: `the TLS handshake failed: ${reason}` };
}

/** `INVALID_PURPOSE`: OpenSSL's codes have neither the prefix of Node's own nor the form of the system's. */
function isOfVerification(code: string): boolean {
  return code === 'UNSPECIFIED' || (code.includes('_') && !code.startsWith('ERR_'));
}

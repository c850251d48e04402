// The TLS handshake with a client. Bytes that were read before go into the handshake and nowhere else, so every byte
// that comes out of it was encrypted. Reports once. The deadline is the caller's.
//
// Node's TLS reads into a buffer that the session keeps. It is as large as the first bytes that TLS is given, at least
// 1 kB; but 64 kB where TLS itself reads them from the socket (Node: `NodeBIO::TryAllocateForWrite` in
// src/crypto/crypto_bio.cc). So a few bytes are read first.
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Tls from 'node:tls';
import type { KeyPair } from '../../model/key-pair.ts';
import { memoized } from '../../model/once.ts';
import { carry, ignoreErrors } from '../socket.ts';

const load = createRequire(import.meta.url);
/** Node's TLS takes 5 MB, which a proxy that passes TLS through can spare: it is loaded where it is first needed. */
export const nodeTls = memoized((): typeof Tls => load('node:tls'));

/** The ALPN name that PostgreSQL has registered. */
export const ALPN_PROTOCOL = 'postgresql';

/**
 * As PostgreSQL's (PQ_SEND_BUFFER_SIZE). A client that waits for its socket to be readable does not see the rest of a
 * record that its own buffer had no room for: libpq's has room for one of this length. Bytes.
 */
const LONGEST_RECORD = 8_192;

/** As PostgreSQL does: no renegotiation, and no session tickets. */
export function tlsContext({ cert, key }: KeyPair): Tls.SecureContext {
  const { constants }: typeof Crypto = load('node:crypto');
  const { createSecureContext } = nodeTls();
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET;
  return createSecureContext({ cert, key, minVersion: 'TLSv1.2', secureOptions });
}

/** Reads the first bytes of a paused socket, at most 1000, and stops. False: it cannot, and has done nothing. */
export type ReadFew = (socket: Socket, onBytes: (bytes: Uint8Array) => void) => boolean;

export interface HandshakeOptions {
  /** Paused, with no other listener. */
  readonly client: Socket;
  readonly context: Tls.SecureContext;
  /**
   * Direct TLS: the bytes that were read already. Such a client must name the protocol (ALPN), as PostgreSQL requires.
   */
  readonly begun: Uint8Array | undefined;
  readonly readFew: ReadFew;
  /** The socket to use from now on; destroying it destroys the client's connection. */
  readonly onBegun: (socket: Tls.TLSSocket) => void;
  /** The caller must listen to the socket synchronously. */
  readonly onSecure: () => void;
  /** The socket is closed, or the caller must close it. */
  readonly onFailed: (why: string) => void;
}

export function shakeHands(options: HandshakeOptions): void {
  const { client, begun, readFew, onFailed } = options;
  if (begun !== undefined) return encrypt(options, begun);
  const release = (): void => void client.off('error', failed).off('end', left).off('close', left);
  const fail = (why: string): void => {
    release();
    onFailed(why);
  };
  const failed = (error: Error): void => fail(reason(error));
  const left = (): void => fail(LEFT);
  const waits = readFew(client, (bytes) => {
    release();
    encrypt(options, bytes);
  });
  if (!waits) return encrypt(options, undefined);
  client.on('error', failed).on('end', left).on('close', left);
  return undefined;
}

/** `first`: the bytes that were read already. */
function encrypt(options: HandshakeOptions, first: Uint8Array | undefined): void {
  const { client, context, begun, onBegun, onSecure, onFailed } = options;
  const { TLSSocket } = nodeTls();
  // TLSSocket takes what is unread first.
  if (first !== undefined) client.unshift(first);
  const socket = new TLSSocket(client, { isServer: true, secureContext: context, ALPNProtocols: [ALPN_PROTOCOL] });
  socket.setMaxSendFragment(LONGEST_RECORD);
  carry(socket, client);
  ignoreErrors(socket);
  noticeReset(socket);
  const release = (): void => {
    socket.off('secure', secure).off('error', failed).off('end', left).off('close', left);
  };
  const fail = (why: string): void => {
    release();
    onFailed(why);
  };
  const secure = (): void => {
    if (begun !== undefined && socket.alpnProtocol !== ALPN_PROTOCOL) return fail('direct TLS without ALPN postgresql');
    release();
    onSecure();
  };
  const failed = (error: Error): void => fail(reason(error));
  const left = (): void => fail(LEFT);
  socket.on('secure', secure).on('error', failed).on('end', left).on('close', left);
  // A socket that is not read reports no end.
  socket.resume();
  onBegun(socket);
}

const LEFT = 'the client left during the handshake';

/**
 * Node drops the error of a write that TLS makes on its own account (session tickets), and the kernel tells each error
 * once. Such a client seems to end in order, and no later write to it would finish or fail (Node: `EncOut` in
 * src/crypto/crypto_tls.cc). A socket that was reset has no peer; nothing may ask for it before, because Node keeps it.
 */
function noticeReset(socket: Tls.TLSSocket): void {
  const check = (): void => {
    if (socket.remoteAddress === undefined) socket.destroy(new Error('the client reset the connection'));
  };
  // The write may come after the end in the same turn.
  socket.once('end', () => setImmediate(check));
}

/** The text of OpenSSL: `tlsv1 alert unknown ca`. */
function reason(error: Error): string {
  if ('reason' in error && typeof error.reason === 'string') return error.reason;
  return 'code' in error && error.code === 'ECONNRESET' ? LEFT : error.message;
}

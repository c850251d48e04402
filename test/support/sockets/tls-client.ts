// A client that speaks TLS by hand: it asks as PostgreSQL's clients do, or begins at once, and keeps what it gets.
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Address } from '../../../src/model/member.ts';
import { SSL_REQUEST } from './packets.ts';
import { connectRaw, watch } from './raw-client.ts';
import type { RawClient } from './raw-client.ts';
import { tlsText } from '../values/tls-files.ts';
import { until } from '../waiting/until.ts';

export interface TlsClient extends RawClient {
  readonly socket: TLSSocket;
  /** Beneath the encryption. */
  readonly carrier: RawClient;
}

/** Verifies against ca.pem and the name of server.pem, unless `options` say otherwise. */
const USUAL: ConnectionOptions = { ca: tlsText('ca.pem'), servername: 'pg-a.test' };

/** By SSLRequest. */
export async function connectTls(at: Address, options: ConnectionOptions = {}): Promise<TlsClient> {
  const client = await beginTls(at, options);
  await once(client.socket, 'secureConnect');
  return client;
}

/** The same, not waiting for the end of the handshake. */
export async function beginTls(at: Address, options: ConnectionOptions = {}): Promise<TlsClient> {
  const carrier = await connectRaw(at);
  carrier.socket.write(SSL_REQUEST);
  await until('S', () => carrier.received().toString() === 'S');
  return over(carrier, options);
}

/** Direct TLS. */
export async function connectDirect(at: Address, options: ConnectionOptions = {}): Promise<TlsClient> {
  const client = over(await connectRaw(at), { ALPNProtocols: ['postgresql'], ...options });
  await once(client.socket, 'secureConnect');
  return client;
}

/**
 * By SSLRequest. The client's last flight of the handshake, and all that it writes, waits for `release`, which gives
 * everything to the kernel synchronously.
 */
export async function connectHeldBack(at: Address): Promise<TlsClient & { readonly release: () => void }> {
  const carrier = await connectRaw(at);
  carrier.socket.write(SSL_REQUEST);
  await until('S', () => carrier.received().toString() === 'S');
  const held: Buffer[] = [];
  let hasAnswer = false;
  const between = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _, done) => {
      if (hasAnswer) held.push(chunk);
      else carrier.socket.write(chunk);
      done();
    },
  });
  carrier.socket.on('data', (chunk: Buffer) => {
    hasAnswer = true;
    between.push(chunk);
  });
  const socket = connect({ socket: between, ...USUAL });
  const client = Object.assign(watch(socket), { socket, carrier });
  await once(socket, 'secureConnect');
  return Object.assign(client, { release: () => carrier.socket.write(Buffer.concat(held)) });
}

export function over(carrier: RawClient, options: ConnectionOptions = {}): TlsClient {
  const socket = connect({ socket: carrier.socket, ...USUAL, ...options });
  return Object.assign(watch(socket), { socket, carrier });
}

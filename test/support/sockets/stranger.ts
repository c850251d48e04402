// Somebody between a client and its server who decrypts, reads and encrypts again with a certificate of its own.
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { TLSSocket, connect as encrypt } from 'node:tls';
import type { Address } from '../../../src/model/member.ts';
import type { KeyPairPaths } from '../values/tls-files.ts';
import { readFileSync } from 'node:fs';
import { listen } from './listen.ts';
import { SSL_REQUEST } from './packets.ts';

export interface Stranger {
  readonly address: Address;
  readonly stop: () => void;
}

/** `change`: of the server's bytes. */
export async function startStranger(
  { cert, key }: KeyPairPaths,
  server: Address,
  change = (bytes: Buffer): Buffer => bytes,
): Promise<Stranger> {
  const open = new Set<Socket>();
  const pair = { cert: readFileSync(cert), key: readFileSync(key) };
  const join = async (near: Socket): Promise<void> => {
    const far = connect(server);
    for (const socket of [near, far]) open.add(socket.on('error', () => {}));
    await once(near, 'data');
    far.write(SSL_REQUEST);
    await once(far, 'data');
    near.write('S');
    const client = new TLSSocket(near, { isServer: true, ...pair, ALPNProtocols: ['postgresql'] });
    const backend = encrypt({ socket: far, rejectUnauthorized: false, ALPNProtocols: ['postgresql'] });
    for (const socket of [client, backend]) socket.on('error', () => {});
    client.on('data', (bytes: Buffer) => backend.write(bytes)).on('close', () => far.destroy());
    backend.on('data', (bytes: Buffer) => client.write(change(bytes))).on('end', () => client.end());
  };
  const listener: Server = createServer((near) => void join(near).catch(() => near.destroy()));
  const port = await listen(listener);
  return {
    address: { host: '127.0.0.1', port },
    stop: () => {
      listener.close();
      for (const socket of open) socket.destroy();
    },
  };
}

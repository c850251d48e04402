// A fake PostgreSQL with TLS, as the proxy sees it: it accepts the request for encryption, and the test sends what it
// wants inside.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { TLSSocket, createSecureContext } from 'node:tls';
import type { Address } from '../../../src/model/member.ts';
import { SSL_REQUEST } from '../sockets/packets.ts';
import { watch } from '../sockets/raw-client.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { SERVER, type KeyPairPaths } from '../values/tls-files.ts';
import { close, listen } from '../sockets/listen.ts';

export interface TlsBackend {
  readonly address: Address;
  /** Inside TLS, in the order of their handshakes. */
  readonly connections: readonly RawClient[];
  /** Beneath the encryption, in the order of their connects. */
  readonly carriers: readonly Socket[];
  stop(): Promise<void>;
}

export async function startTlsBackend({ cert, key }: KeyPairPaths = SERVER): Promise<TlsBackend> {
  const context = createSecureContext({ cert: readFileSync(cert), key: readFileSync(key) });
  const carriers: Socket[] = [];
  const connections: RawClient[] = [];
  const server = createServer({ allowHalfOpen: true }, (carrier) => {
    carriers.push(carrier);
    carrier.on('error', () => {});
    carrier.once('data', (chunk: Buffer) => {
      if (!chunk.equals(SSL_REQUEST)) return void carrier.destroy();
      carrier.write('S');
      const socket = new TLSSocket(carrier, { isServer: true, secureContext: context });
      const connection = watch(socket);
      socket.once('secure', () => connections.push(connection));
    });
  });
  const port = await listen(server);
  return {
    address: { host: '127.0.0.1', port },
    connections,
    carriers,
    async stop() {
      const closing = close(server);
      for (const carrier of carriers) carrier.destroy();
      await closing;
    },
  };
}

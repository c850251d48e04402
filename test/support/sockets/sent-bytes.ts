// Passes TCP connections on to one address, and keeps what their clients send.
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Address } from '../../../src/model/member.ts';
import { close, listen } from './listen.ts';

export class SentBytes {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #sent: Buffer[][] = [];
  #port = 0;

  private constructor(to: Address) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      const chunks: Buffer[] = [];
      this.#sent.push(chunks);
      const upstream = connect({ ...to, allowHalfOpen: true });
      client.on('data', (chunk: Buffer) => chunks.push(chunk));
      for (const [from, into] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => into.destroy()).on('close', () => this.#sockets.delete(from));
        from.pipe(into);
      }
    });
  }

  static async on(to: Address): Promise<SentBytes> {
    const tap = new SentBytes(to);
    tap.#port = await listen(tap.#server);
    return tap;
  }

  get address(): Address {
    return { host: '127.0.0.1', port: this.#port };
  }

  /** The bytes of each connection since the last call. */
  take(): readonly Buffer[] {
    const sent = this.#sent.map((chunks) => Buffer.concat(chunks));
    this.#sent = [];
    return sent;
  }

  async stop(): Promise<void> {
    const closing = close(this.#server);
    for (const socket of this.#sockets) socket.destroy();
    await closing;
  }
}

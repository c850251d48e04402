// One client of the benchmark: readable for the proxy (plain text) or opaque (its encryption request was answered with
// S).
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { SSL_REQUEST, aStartup } from '../../support/sockets/packets.ts';
import type { Exchange } from './exchange.ts';

export type Kind = 'readable' | 'opaque';

export class BenchClient {
  readonly #socket: Socket;
  #missing = 0;
  #onWhole: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#missing -= chunk.length;
      if (this.#missing === 0) this.#onWhole();
    });
  }

  static async open(port: number, kind: Kind): Promise<BenchClient> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    await once(socket, 'connect');
    socket.write(kind === 'opaque' ? SSL_REQUEST : aStartup());
    await once(socket, 'data');
    return new BenchClient(socket);
  }

  async ask({ query, reply }: Exchange, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#missing = reply.length;
      this.#onWhole = resolve;
      this.#socket.once('close', reject);
      this.#socket.write(query);
      await promise;
      this.#socket.off('close', reject);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

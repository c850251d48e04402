// A port that refuses connections and that no other program gets meanwhile: a client's end of a connection has it.
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { close, listen } from './listen.ts';

export interface KeptPort {
  /** A server may listen on the port before. */
  release(): Promise<void>;
}

/** `port`: of 127.0.0.1, which no server listens on. */
export async function keepPort(port: number): Promise<KeptPort> {
  const other = createServer((socket) => socket.on('error', () => {}).resume());
  const client = connect({
    port: await listen(other),
    host: '127.0.0.1',
    localAddress: '127.0.0.1',
    localPort: port,
  });
  await once(client, 'connect');
  return {
    async release() {
      client.destroy();
      await close(other);
    },
  };
}

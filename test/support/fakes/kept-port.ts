// A port that refuses connections and that no other program gets meanwhile: a client's end of a connection has it.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

const kept = new Set<string>();
let other: ReturnType<typeof startOther> | undefined;

/** The other end of all these connections. */
async function startOther(): Promise<AddressInfo | string | null> {
  const server = createServer(greet);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server.unref().address();
}

function greet(socket: Socket): void {
  socket.on('error', () => {}).unref();
  socket.write('accepted');
}

/** Until this process ends. No server listens on the port now; any may listen on it later. */
export async function keepPort(port: number, host = '127.0.0.1'): Promise<void> {
  const name = `${host}:${port}`;
  if (kept.has(name)) return;
  kept.add(name);
  const to = await (other ??= startOther());
  if (to === null || typeof to === 'string') throw new Error('the server has no port');
  const client = connect({ host: to.address, port: to.port, localAddress: host, localPort: port });
  // Tests count descriptors: those of both ends are there when this returns.
  await once(client, 'data');
  client.unref();
}

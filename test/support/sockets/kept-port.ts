// A port that refuses connections and that no other program gets meanwhile: a client's end of a connection has it.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

const kept = new Set<string>();
/** The other end of all these connections. It is there before a port is kept, which then takes no turn more. */
const other = await startOther();

async function startOther(): Promise<AddressInfo> {
  const server = createServer(greet);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const bound = server.unref().address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound;
}

function greet(socket: Socket): void {
  socket.on('error', () => {}).unref();
  socket.write('accepted');
}

/**
 * Until this process ends. No server listens on the port now; any may listen on it later. Call it in the turn in which
 * the last one closes: another program could get the port in between.
 */
export async function keepPort(port: number, host = '127.0.0.1'): Promise<void> {
  const name = `${host}:${port}`;
  if (kept.has(name)) return;
  kept.add(name);
  const client = connect({ host: other.address, port: other.port, localAddress: host, localPort: port });
  // Tests count descriptors: those of both ends are there when this returns.
  await once(client, 'data');
  client.unref();
}

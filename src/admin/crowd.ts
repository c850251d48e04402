// Limits the connections of the admin port. A health check always finds room: a silent connection has little time, and
// with too many connections the oldest idle one is closed, not the newest.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MOST_CONNECTIONS = 64;
/** From one address. */
const MOST_PER_ADDRESS = 32;
/** Until the head of the request is complete. */
const HEAD_MS = 2000;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** The server is answering its request. */
  isBusy: boolean;
}

export function boundCrowd(server: Server): void {
  /** Oldest first. */
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const connection: Connection = { socket, address: socket.remoteAddress ?? '', isBusy: false };
    connections.set(socket, connection);
    const headDue = setTimeout(() => {
      // For a slow head the server itself sends an error.
      if (socket.bytesRead === 0) socket.destroy();
    }, HEAD_MS);
    socket.once('close', () => {
      clearTimeout(headDue);
      connections.delete(socket);
    });
    connectionToClose([...connections.values()], connection.address)?.socket.destroy();
  });
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.isBusy = true;
    response.once('finish', () => (connection.isBusy = false));
  });
}

/** The connection to close; undefined: none. With too many from one address it is one of them. Idle ones go first. */
function connectionToClose(all: readonly Connection[], address: string): Connection | undefined {
  const here = all.filter((one) => one.address === address);
  const crowd = here.length > MOST_PER_ADDRESS ? here : all.length > MOST_CONNECTIONS ? all : [];
  return crowd.find(({ isBusy }) => !isBusy) ?? crowd.at(-1);
}

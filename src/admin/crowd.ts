// The connections of the admin port. A probe always finds room: a connection that says nothing has little time, and
// when there are too many the oldest that is waiting for something goes, not the newest.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MOST_CONNECTIONS = 64;
/** Of these, from one address. */
const MOST_PER_ADDRESS = 32;
/** To the end of the request's head. */
const HEAD_MS = 2000;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Its request is being answered. */
  isAsking: boolean;
}

export function boundCrowd(server: Server): void {
  /** The oldest first. */
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const connection: Connection = { socket, address: socket.remoteAddress ?? '', isAsking: false };
    connections.set(socket, connection);
    const headDue = setTimeout(() => {
      // A slow head is told why it ends, by the server.
      if (socket.bytesRead === 0) socket.destroy();
    }, HEAD_MS);
    socket.once('close', () => {
      clearTimeout(headDue);
      connections.delete(socket);
    });
    leaverOf([...connections.values()], connection.address)?.socket.destroy();
  });
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.isAsking = true;
    response.once('finish', () => (connection.isAsking = false));
  });
}

/**
 * Of too many from one address it is one of that address. Those that have their answer, or none yet, go before those
 * being answered.
 */
function leaverOf(all: readonly Connection[], address: string): Connection | undefined {
  const here = all.filter((one) => one.address === address);
  const crowd = here.length > MOST_PER_ADDRESS ? here : all.length > MOST_CONNECTIONS ? all : [];
  return crowd.find(({ isAsking }) => !isAsking) ?? crowd.at(-1);
}

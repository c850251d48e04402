// Limits the connections of the admin port. A health check always finds room: a silent connection has little time
// (HEAD_MS in admin-server.ts), and with too many connections the oldest idle one is closed, not the newest. However
// many come, each has a moment to send its request, so that a crowd does not push out a health check from farther away.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MOST_CONNECTIONS = 64;
/** From one address. More than the answers (under-way.ts) and streams that strangers may keep busy. */
const MOST_PER_ADDRESS = 48;
/** An idle connection is closed for others after this time. */
const MOMENT_MS = 500;
/** With more connections than these, nobody is given a moment. descriptor-limit.ts keeps descriptors for them. */
const CEILING = 96;

interface AdminConnection {
  readonly socket: Socket;
  readonly address: string;
  readonly acceptedMs: number;
  /** The server is answering its request. */
  isBusy: boolean;
}

export function limitConnections(server: Server): void {
  /** Oldest first. */
  const connections = new Map<Socket, AdminConnection>();
  const closeOne = (): void => {
    const excess = connectionToClose([...connections.values()]);
    if (excess === undefined) return;
    const leftMs = excess.acceptedMs + MOMENT_MS - performance.now();
    if (leftMs <= 0 || excess.isBusy || connections.size > CEILING) excess.socket.destroy();
    else setTimeout(closeOne, leftMs).unref();
  };
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const connection: AdminConnection = { socket, address, acceptedMs: performance.now(), isBusy: false };
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    closeOne();
  });
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.isBusy = true;
    response.once('finish', () => (connection.isBusy = false));
  });
}

/** Undefined: there are not too many. Addresses with too many lose theirs before others do; idle ones go first. */
function connectionToClose(all: readonly AdminConnection[]): AdminConnection | undefined {
  const byAddress = Map.groupBy(all, ({ address }) => address);
  const ofCrowded = all.filter(({ address }) => (byAddress.get(address)?.length ?? 0) > MOST_PER_ADDRESS);
  const crowd = ofCrowded.length > 0 ? ofCrowded : all.length > MOST_CONNECTIONS ? all : [];
  return crowd.find(({ isBusy }) => !isBusy) ?? crowd.at(-1);
}

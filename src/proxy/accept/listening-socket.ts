// One listening socket: bound here, or bound before by who started this process and handed down (systemd's socket activation). Says
// in the operator's words why an address cannot be had.
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { addressText } from '../../model/member.ts';
import type { Address } from '../../model/member.ts';
import { SOCKET_OPTIONS } from '../socket.ts';

/** A file descriptor that is bound already. `name` is for messages. */
export interface InheritedSocket {
  readonly fd: number;
  readonly name: string;
}

export interface ListeningSocket {
  readonly server: Server;
  /** As it is: the port is the real one, and of an inherited one the host too. */
  readonly address: Address;
}

/** Connections the kernel completes for us while we are busy: a reconnect storm is one burst. */
export const BACKLOG = 1024;

export function bindSocket(
  { host, port }: Address,
  reusePort: boolean,
  onClient: (client: Socket) => void,
): Promise<ListeningSocket | NodeJS.ErrnoException> {
  return listening(onClient, (server) => {
    server.listen({ host, port, reusePort, backlog: BACKLOG });
    return (at) => ({ host, port: at.port });
  });
}

/** Its other holders go on listening when this one is closed. */
export function adoptSocket(
  { fd }: InheritedSocket,
  onClient: (client: Socket) => void,
): Promise<ListeningSocket | NodeJS.ErrnoException> {
  return listening(onClient, (server) => {
    server.listen({ fd, backlog: BACKLOG });
    return (at) => ({ host: at.address, port: at.port });
  });
}

interface Bound {
  readonly address: string;
  readonly port: number;
}

function listening(
  onClient: (client: Socket) => void,
  listen: (server: Server) => (at: Bound) => Address,
): Promise<ListeningSocket | NodeJS.ErrnoException> {
  const server = createServer(SOCKET_OPTIONS, onClient);
  return new Promise((resolve) => {
    server.once('error', resolve);
    const addressOf = listen(server);
    server.once('listening', () => {
      server.off('error', resolve);
      const at = server.address();
      if (at !== null && typeof at === 'object') return resolve({ server, address: addressOf(at) });
      server.close();
      resolve(new Error(`is the path ${at}, no TCP port`));
    });
  });
}

export interface BindFailure {
  readonly address: Address;
  readonly reusePort: boolean;
  readonly error: NodeJS.ErrnoException;
  /** A listener of ours on the same port. */
  readonly own: Address | undefined;
}

export function explainBind({ address, reusePort, error, own }: BindFailure): string {
  const text = addressText(address);
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      if (own !== undefined)
        return `${text} is in use by the listener ${addressText(own)}: take another port, or restart`;
      return reusePort
        ? `${text} is in use by another process that does not share it: it needs reuse_port too, and the same user`
        : `${text} is in use by another process`;
    case 'EACCES':
      return `${text} may not be bound by this user: ports below 1024 need a privilege`;
    case 'EADDRNOTAVAIL':
      return `${text} is not an address of this machine`;
    case 'ENOTFOUND':
      return `${text} cannot be resolved`;
    case 'ENOTSUP':
      return reusePort
        ? `${text} cannot be shared on this system: reuse_port needs Linux, FreeBSD or another that deals out connections`
        : `${text} cannot be bound: ${error.message}`;
    default:
      return `${text} cannot be bound: ${error.message}`;
  }
}

export function explainAdoption({ fd, name }: InheritedSocket, error: NodeJS.ErrnoException): string {
  const why = error.code === undefined ? error.message : `cannot be listened on (${error.code}): expected a TCP socket`;
  return `the socket that was passed as "${name}" (file descriptor ${fd}) ${why}`;
}

export function explainUnknownSocket({ name }: InheritedSocket, address: Address, wanted: readonly Address[]): string {
  const listeners = wanted.map(addressText).join(', ');
  return `the socket that was passed as "${name}" is bound to ${addressText(address)}, which no listener names: there are ${listeners}`;
}

// A socket that listens. It keeps the clients that connect before they are served.
import { createServer, type ListenOptions, type Server } from 'node:net';
import type { Address } from '../../model/member.ts';
import type { ListenerPolicy } from '../../model/policy.ts';
import { PlainSocket } from '../plain/plain-socket.ts';
import { SOCKET_OPTIONS, ignoreErrors, markLocal, type ProxySocket } from '../socket.ts';
import { SocketFile } from './socket-file.ts';

/** Connections that the kernel completes for us while we are busy: a reconnect storm is one burst. */
export const BACKLOG = 1024;
/** As PostgreSQL: the server's own rules decide about a login. */
const USUAL_MODE = 0o777;

export class ListeningSocket {
  /** The port is the real one; of an inherited socket the host too. */
  readonly address: Address;
  readonly #file: SocketFile | undefined;
  readonly #server: Server;
  readonly #early: ProxySocket[] = [];
  #onClient: ((client: ProxySocket) => void) | undefined;

  private constructor(server: Server, address: Address, file?: SocketFile) {
    this.#server = server;
    this.address = address;
    this.#file = file;
    server.on('connection', (client) => this.#accepted(client));
  }

  /**
   * `host`: as configured; undefined takes the one that is bound. Other holders of an inherited socket go on listening.
   */
  static open(
    server: Server,
    options: ListenOptions | { readonly fd: number },
    host?: string,
    unix?: { readonly address: Address; readonly file: SocketFile },
  ): Promise<ListeningSocket | NodeJS.ErrnoException> {
    return new Promise((resolve) => {
      server.once('error', resolve);
      server.listen({ ...options, backlog: BACKLOG }, () => {
        server.off('error', resolve);
        if (unix !== undefined) return resolve(new ListeningSocket(server, unix.address, unix.file));
        const at = server.address();
        if (at !== null && typeof at === 'object') {
          return resolve(new ListeningSocket(server, { host: host ?? at.address, port: at.port }));
        }
        server.close();
        return resolve(new Error('is no TCP port: Pointsman makes the files of Unix sockets itself'));
      });
    });
  }

  onError(run: (error: Error) => void): void {
    this.#server.on('error', run);
  }

  /** Clients find a Unix socket from now on. Returns why they do not. */
  publish(): Error | undefined {
    try {
      this.#file?.publish();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** The clients that waited come first, synchronously. Call once. */
  acceptWith(arePlain: boolean, onClient: (client: ProxySocket) => void): void {
    this.#onClient = onClient;
    if (arePlain && this.#file === undefined) PlainSocket.acceptAt(this.#server, onClient);
    for (const client of this.#early.splice(0)) if (!client.destroyed) onClient(client);
  }

  /** Ends the clients that wait. */
  close(): void {
    this.#file?.remove();
    this.#server.close();
    for (const client of this.#early.splice(0)) client.destroy();
  }

  #accepted(client: ProxySocket): void {
    if (this.#file !== undefined) markLocal(client);
    if (this.#onClient !== undefined) return this.#onClient(client);
    ignoreErrors(client);
    this.#early.push(client);
    return undefined;
  }
}

/** On a Unix socket, in a file that clients find with `publish`. */
export async function openFile({
  address,
  reusePort,
  unixSocketMode,
}: ListenerPolicy): Promise<ListeningSocket | NodeJS.ErrnoException> {
  const file = new SocketFile(address, unixSocketMode ?? USUAL_MODE);
  const problem = await file.clear(reusePort === true);
  if (problem !== undefined) return problem;
  const server = createServer(SOCKET_OPTIONS);
  const socket = await ListeningSocket.open(server, { path: file.temporary }, undefined, { address, file });
  const unprotected = socket instanceof Error ? undefined : file.protect();
  if (unprotected === undefined || socket instanceof Error) return socket;
  socket.close();
  return unprotected;
}

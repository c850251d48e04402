// The console's TCP server: its sockets, limits and deadlines. A client that has logged in keeps its place; among the
// others the newest counts, so that silent connections keep nobody out.
import { createServer, type Socket } from 'node:net';
import { listen, type ListenOutcome } from '../admin/listen.ts';
import type { Token } from '../admin/permission.ts';
import type { Address } from '../model/member.ts';
import { encodeErrorResponse } from '../wire/messages/error-response.ts';
import { converse } from './conversation.ts';
import type { ReaderCheck } from './login.ts';
import { rememberVerifier } from './scram.ts';
import type { ConsoleSources } from './console-table.ts';

const MOST_CONNECTIONS = 32;
/** Refused clients that are still connected. */
const MOST_REFUSED = 8;
/** Until the login is complete. psql has asked its user for the password before. */
const LOGIN_MS = 5_000;
/** For a client that does not take its answer. */
const STALL_MS = 10_000;
const IDLE_MS = 60 * 60_000;

export interface ConsoleOptions {
  readonly address: Address;
  readonly sources: ConsoleSources;
  /** The admin token, at every login. */
  readonly token: () => Promise<Token>;
}

export interface Console {
  readonly listen: () => Promise<ListenOutcome>;
  /** Ends its clients too. */
  readonly close: () => Promise<void>;
}

interface Client {
  readonly socket: Socket;
  readonly address: string | undefined;
  isLoggedIn: boolean;
}

export function createConsole({ address, sources, token }: ConsoleOptions): Console {
  /** Oldest first. */
  const clients = new Set<Client>();
  /** Refused clients, until they have read the reason. Oldest first. */
  const refused = new Set<Socket>();
  const verifierOf = rememberVerifier();
  const accessOf = async ({ remoteAddress }: Socket): Promise<ReaderCheck> => {
    const known = await token();
    switch (known.kind) {
      case 'token':
        return { kind: 'token', verifier: await verifierOf(known.value) };
      case 'unusable':
        return {
          kind: 'closed',
          why: `nobody can log in: ${known.why}`,
          hint: 'Correct the file; no restart is needed.',
        };
      case 'none':
        return isLoopback(remoteAddress) ? { kind: 'open' } : NO_TOKEN;
    }
  };
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    const client: Client = { socket, address: socket.remoteAddress, isLoggedIn: false };
    clients.add(client);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clients.delete(client);
      refused.delete(socket);
    });
    if (clients.size > MOST_CONNECTIONS && !makeRoom(clients)) {
      clients.delete(client);
      const [oldest] = refused;
      if (refused.size >= MOST_REFUSED) oldest?.destroy();
      refused.add(socket);
      return refuse(socket);
    }
    void serve(client, sources, () => accessOf(socket));
  });
  return {
    listen: () => listen(server, address, 'admin.console.address'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { socket } of clients) socket.destroy();
        for (const socket of refused) socket.destroy();
      }),
  };
}

const NO_TOKEN: ReaderCheck = {
  kind: 'closed',
  why: 'without an admin token the console serves only clients on its own host',
  hint: 'Set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE) and give the token as the password.',
};

/** True when a client that has not logged in could be ended for the newest: the oldest of the address with most. */
function makeRoom(clients: ReadonlySet<Client>): boolean {
  const waiting = [...clients].filter(({ isLoggedIn }) => !isLoggedIn);
  // The newest is the last of them.
  if (waiting.length < 2) return false;
  const byAddress = Map.groupBy(waiting, ({ address }) => address);
  const [crowd] = [...byAddress.values()].toSorted((one, other) => other.length - one.length);
  crowd?.[0]?.socket.destroy();
  return true;
}

function refuse(socket: Socket): void {
  socket.end(
    encodeErrorResponse({ sqlState: '53300', message: `the console has ${MOST_CONNECTIONS} clients already` }),
  );
  destroyLater(socket);
}

async function serve(client: Client, sources: ConsoleSources, access: () => Promise<ReaderCheck>): Promise<void> {
  const { socket } = client;
  const login = setTimeout(() => socket.destroy(), LOGIN_MS);
  socket.once('close', () => clearTimeout(login));
  const onLogin = (): void => {
    client.isLoggedIn = true;
    clearTimeout(login);
    socket.setTimeout(IDLE_MS, () => {
      socket.end(encodeErrorResponse({ sqlState: '57P05', message: 'the console was idle for too long' }));
      destroyLater(socket);
    });
  };
  try {
    await converse(socket, { sources, access, send: (bytes) => sendAll(socket, bytes), onLogin });
    socket.end();
    destroyLater(socket);
  } catch {
    // The client is gone.
    socket.destroy();
  }
}

/** Resolves when the socket takes more. */
async function sendAll(socket: Socket, bytes: Uint8Array): Promise<void> {
  if (socket.write(bytes)) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stalled = setTimeout(() => socket.destroy(), STALL_MS);
  const onClose = (): void => reject(new Error('closed'));
  socket.once('drain', resolve).once('close', onClose);
  try {
    await promise;
  } finally {
    clearTimeout(stalled);
    socket.off('drain', resolve).off('close', onClose);
  }
}

/** A client that keeps its end open has had its answer. */
function destroyLater(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), STALL_MS);
  socket.resume().once('close', () => clearTimeout(late));
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

// A fake PostgreSQL as the proxy sees it: a TCP server with knobs that keeps all bytes and the end of each connection.
import { createServer as createTcpServer } from 'node:net';
import type { Server, ServerOpts, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { carry } from '../../../src/proxy/socket.ts';
import { encodeErrorResponse } from '../../../src/wire/messages/error-response.ts';
import type { Address } from '../../../src/model/member.ts';
import { SSL_REQUEST } from '../sockets/packets.ts';
import { tlsText } from '../values/tls-files.ts';
import { close, listen } from '../sockets/listen.ts';
import { serveMovable } from './movable-server.ts';
import {
  AUTHENTICATION_OK,
  COMMAND_COMPLETE,
  backendKeyData,
  parameterStatus,
  readyForQuery,
} from '../sockets/messages.ts';

export interface BackendConnection {
  readonly socket: Socket;
  readonly chunks: Buffer[];
  received(): Buffer;
  /** The proxy half-closed. */
  hasEnded: boolean;
  isClosed: boolean;
  /** The proxy reset it. */
  wasReset: boolean;
}

export interface FakeBackend {
  readonly address: Address;
  /**
   * `echo`: returns the bytes and the half-close. `silent`: reads and sends nothing. `polite`: asks for authentication,
   * then is silent. `stalled`: does not even read. `stopping`: answers that it shuts down. `gone`: closes without a
   * word. `full`: has no room for one more. `obliging`: lets every client in and answers every message as a query that
   * selects one. `standby`: the same, and reports that it is a standby. `movable`: the same, and tells the state of its
   * sessions, of the user `app`. `keyless`: the same, without a key for cancel requests. `keyed`: the same, and each
   * session has its own key (`keyOf`). `cancelling`: as `movable`, and the first question to each session is cancelled.
   * `unwilling`: each of them. `listening`: as `movable`, and its sessions listen. `computing`: a function of its
   * database computes names of settings. `naming`: one names a setting. `wordy`: the state of its sessions is large.
   * `elsewhere`: it has a time zone. `mistaken`: as `movable`, of another user. `ahead`: as `movable`, and all
   * transactions have ended that another such server may show.
   */
  behaviour:
    | 'echo'
    | 'silent'
    | 'polite'
    | 'stalled'
    | 'stopping'
    | 'full'
    | 'gone'
    | 'obliging'
    | 'standby'
    | 'movable'
    | 'keyless'
    | 'keyed'
    | 'cancelling'
    | 'mistaken'
    | 'ahead'
    | 'unwilling'
    | 'listening'
    | 'computing'
    | 'naming'
    | 'wordy'
    | 'elsewhere';
  readonly connections: readonly BackendConnection[];
  /** The only connection, or the newest. */
  last(): BackendConnection;
  open(): number;
  /** Clients so far. A probe of the port connects too, and sends nothing. */
  clients(): number;
  /** Connects are refused until listenAgain(). */
  refuseConnections(): Promise<void>;
  listenAgain(): Promise<void>;
  stop(): Promise<void>;
}

interface FakeBackendOptions {
  readonly backlog?: number;
  /** It wants the request for encryption, and has the certificate `SERVER`. */
  readonly tls?: boolean;
  readonly host?: string;
  /** Default: on this machine. */
  readonly createServer?: (options: ServerOpts) => Server;
}

export async function startFakeBackend(
  behaviour: FakeBackend['behaviour'] = 'echo',
  { tls = false, host = '127.0.0.1', createServer = createTcpServer, ...at }: FakeBackendOptions = {},
): Promise<FakeBackend> {
  const connections: BackendConnection[] = [];
  const carriers = new Set<Socket>();
  const secured = (socket: Socket): void => void connections.push(serve(socket, backend.behaviour));
  const accept = tls ? (carrier: Socket): void => answerTls(carrier, carriers, secured) : secured;
  let server = createServer({ allowHalfOpen: true }).on('connection', accept);
  const port = await listen(server, { ...at, host });
  const end = async (): Promise<void> => {
    const closing = close(server, createServer === createTcpServer);
    for (const { socket } of connections) socket.destroy();
    for (const carrier of carriers) carrier.destroy();
    await closing;
  };
  const backend: FakeBackend = {
    address: { host, port },
    behaviour,
    connections,
    last: () => {
      const connection = connections.at(-1);
      if (connection === undefined) throw new Error('nobody connected to this backend');
      return connection;
    },
    open: () => connections.filter((connection) => !connection.isClosed).length,
    clients: () => connections.filter(({ chunks }) => chunks.length > 0).length,
    refuseConnections: end,
    async listenAgain() {
      server = createServer({ allowHalfOpen: true }).on('connection', accept);
      await listen(server, { host, port });
    },
    stop: end,
  };
  return backend;
}

const context = createSecureContext({ cert: tlsText('server.pem'), key: tlsText('server.key') });

/** `secured` gets the connection inside TLS, as the handshake begins. */
function answerTls(carrier: Socket, carriers: Set<Socket>, secured: (socket: Socket) => void): void {
  carriers.add(carrier);
  carrier.on('error', () => {}).once('close', () => carriers.delete(carrier));
  // A probe of the port.
  carrier.once('end', () => carrier.destroy());
  carrier.once('data', (chunk: Buffer) => {
    if (!chunk.equals(SSL_REQUEST)) return void carrier.destroy();
    carrier.write('S');
    const socket = new TLSSocket(carrier, { isServer: true, secureContext: context });
    carry(socket, carrier);
    secured(socket);
  });
}

/** AuthenticationCleartextPassword. */
const AUTHENTICATE = Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3);
const SHUTTING_DOWN = encodeErrorResponse({ sqlState: '57P03', message: 'the database system is shutting down' });
const FULL = encodeErrorResponse({ sqlState: '53300', message: 'sorry, too many clients already' });

const ANSWERS: Partial<Record<FakeBackend['behaviour'], { readonly words: Uint8Array; readonly isLast: boolean }>> = {
  polite: { words: AUTHENTICATE, isLast: false },
  stopping: { words: SHUTTING_DOWN, isLast: true },
  full: { words: FULL, isLast: true },
  gone: { words: new Uint8Array(0), isLast: true },
};

const CANCELS: Partial<Record<FakeBackend['behaviour'], number>> = { cancelling: 1, unwilling: Infinity };

const STATES: Partial<Record<FakeBackend['behaviour'], Readonly<Record<string, unknown>>>> = {
  listening: { listening: ['jobs'] },
  computing: { unclear: ['computes', 'function audit.log'] },
  naming: { named: { version: 'v1', names: ['app.tenant'], unclear: [] } },
  wordy: { custom: { 'app.text': 'word '.repeat(1_000) } },
};

const MOVABLE: ReadonlySet<FakeBackend['behaviour']> = new Set([
  'movable',
  'keyless',
  'keyed',
  'cancelling',
  'mistaken',
  'ahead',
  'unwilling',
  'listening',
  'computing',
  'naming',
  'wordy',
  'elsewhere',
]);

function serve(socket: Socket, behaviour: FakeBackend['behaviour']): BackendConnection {
  const chunks: Buffer[] = [];
  const connection: BackendConnection = {
    socket,
    chunks,
    received: () => Buffer.concat(chunks),
    hasEnded: false,
    isClosed: false,
    wasReset: false,
  };
  // Inside TLS a stalled server would notice the end of the stream without a read.
  if (behaviour !== 'stalled' || !(socket instanceof TLSSocket)) {
    socket.on('end', () => (connection.hasEnded = true));
    socket.on('close', () => (connection.isClosed = true));
  }
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') connection.wasReset = true;
  });
  if (behaviour === 'stalled') return connection;
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (behaviour === 'echo') socket.pipe(socket);
  if (MOVABLE.has(behaviour)) {
    serveMovable(socket, behaviour === 'mistaken' ? 'another' : 'app', {
      key: behaviour === 'keyless' ? undefined : behaviour === 'keyed' ? backendKeyData(...keyOf(socket)) : KEY,
      cancels: CANCELS[behaviour] ?? 0,
      state: STATES[behaviour] ?? {},
      timeZone: behaviour === 'elsewhere' ? 'Asia/Tokyo' : undefined,
      isAhead: behaviour === 'ahead',
    });
  }
  const welcome = WELCOMES[behaviour];
  if (welcome !== undefined) {
    socket.on('data', (chunk: Buffer) => oblige(socket, chunk, welcome)).on('end', () => socket.end());
  }
  const answer = ANSWERS[behaviour];
  if (answer !== undefined)
    socket.once('data', () => (answer.isLast ? socket.end(answer.words) : socket.write(answer.words)));
  return connection;
}

const KEY = backendKeyData(42, Buffer.alloc(4, 7));
const READY = [KEY, readyForQuery('I')];

/** Process id and secret of a `keyed` session, which no session of another such server has. */
export function keyOf({ localPort = 0, remotePort = 0 }: Socket): readonly [processId: number, secret: Buffer] {
  const secret = Buffer.alloc(4);
  secret.writeUInt32BE(localPort);
  return [remotePort, secret];
}

const WELCOMES: Partial<Record<FakeBackend['behaviour'], Uint8Array>> = {
  obliging: Buffer.concat([AUTHENTICATION_OK, ...READY]),
  standby: Buffer.concat([AUTHENTICATION_OK, parameterStatus('in_hot_standby', 'on'), ...READY]),
};

const DONE = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
/** The upper half of the codes of SSLRequest and its kin, that of protocol 3, and the type of Terminate. */
const [ENCRYPTION, PROTOCOL_3, TERMINATE] = [0x04d2, 0x0003, 0x58];

/** Drivers under test wait for each answer, so a chunk is a message. */
function oblige(socket: Socket, chunk: Buffer, welcome: Uint8Array): void {
  if (chunk[0] === TERMINATE) return void socket.end();
  const code = chunk[0] === 0 && chunk.length >= 8 ? chunk.readUInt16BE(4) : undefined;
  if (code === ENCRYPTION) socket.write('N');
  else socket.write(code === PROTOCOL_3 ? welcome : DONE);
}

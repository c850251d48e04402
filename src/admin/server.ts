// The admin HTTP server, on its own address. GET and HEAD are read-only; POST runs operations. One request per
// connection, with limits on size and time, so that bad clients cannot block it; crowd.ts limits the connections.
import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { addressText } from '../model/member.ts';
import type { Address } from '../model/member.ts';
import { failure } from './answer.ts';
import type { Answer } from './answer.ts';
import { whyForeign, whyNotHere } from './callers.ts';
import { boundCrowd } from './crowd.ts';
import { OPERATIONS, operate, operationAt } from './operations.ts';
import type { OperationsOptions } from './operations.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { PAGES, isProbe, page } from './pages.ts';
import type { PagesOptions } from './pages.ts';

export interface AdminOptions extends PagesOptions, OperationsOptions {
  readonly address: Address;
  /** admin.allowed_hosts: public host names that are accepted. Read at every request. */
  readonly allowedHosts: () => readonly string[];
}

export type Listening =
  | { readonly kind: 'listening'; readonly address: Address }
  /** `detail` names the address: `admin.address 127.0.0.1:8432 is already in use`. */
  | { readonly kind: 'failed'; readonly detail: string };

export interface Admin {
  readonly listen: () => Promise<Listening>;
  /** Ends open connections too. Idempotent. */
  readonly close: () => Promise<void>;
}

// Importing node:http would also load fetch and WebSocket: 12 MB of memory.
const http: typeof Http = createRequire(import.meta.url)('node:http');

const MOST_HEADER_BYTES = 8 * 1024;
/** Deadlines for the head, and for head and body. */
const HEAD_MS = 2000;
const DEADLINE_MS = 5000;

export function createAdmin(given: AdminOptions): Admin {
  const options: AdminOptions = {
    ...given,
    status: oneAtATime(async () => await given.status()),
    metrics: oneAtATime(given.metrics),
  };
  const server = http.createServer(
    {
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: HEAD_MS,
      requestTimeout: DEADLINE_MS,
      connectionsCheckingInterval: 500,
      keepAlive: false,
    },
    (request, response) => void respond(options, request, response),
  );
  boundCrowd(server);
  server.maxRequestsPerSocket = 1;
  // For a client that does not read.
  server.setTimeout(2 * DEADLINE_MS);
  server.on('clientError', refuse);
  return { listen: () => listen(server, options.address), close: () => close(server) };
}

async function respond(options: AdminOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => {});
  const {
    status,
    type,
    body,
    headers = {},
  } = await answer(options, request).catch((error: unknown) =>
    failure(500, error instanceof Error ? error.message : String(error)),
  );
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...headers,
  });
  response.end(body);
}

async function answer(options: AdminOptions, request: IncomingMessage): Promise<Answer> {
  const { method, url = '/' } = request;
  const [path = '/'] = url.split('?');
  const known = PAGES.find((candidate) => candidate === path);
  if (known !== undefined) {
    if (method !== 'GET' && method !== 'HEAD') {
      return failure(405, `${path} accepts only GET and HEAD`, { allow: 'GET, HEAD' });
    }
    const why = isProbe(known) ? undefined : whyNotHere(request.headers, options.allowedHosts());
    return why === undefined ? page(options, known) : failure(403, why);
  }
  const operation = operationAt(path);
  if (operation === undefined) {
    return failure(404, `not found: the paths are ${PAGES.join(', ')}, and with POST ${OPERATIONS.join(', ')}`);
  }
  if (method !== 'POST') return failure(405, `${path} accepts only POST`, { allow: 'POST' });
  const foreign = whyForeign(request.headers);
  return foreign === undefined ? operate(options, operation, request) : failure(403, foreign);
}

/**
 * Answers input that is not HTTP (a PostgreSQL startup packet, for example), and headers that are too long or too late.
 */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const body = `${JSON.stringify({ error: 'this port serves HTTP: GET /livez, /readyz, /metrics or /status' })}\n`;
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function listen(server: Server, address: Address): Promise<Listening> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => resolve({ kind: 'failed', detail: whyNot(address, error) });
    server.once('error', fail);
    server.listen({ host: address.host, port: address.port }, () => {
      server.off('error', fail);
      server.on('error', () => {});
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
      resolve({ kind: 'listening', address: { host: address.host, port } });
    });
  });
}

const LISTEN_FAILURES: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'is already in use'],
  ['EADDRNOTAVAIL', 'is not an address of this host'],
  ['EACCES', 'needs a permission that this process lacks'],
]);

function whyNot(address: Address, error: NodeJS.ErrnoException): string {
  const where = `admin.address ${addressText(address)}`;
  const reason = LISTEN_FAILURES.get(error.code ?? '') ?? `cannot be used: ${error.message}`;
  return `${where} ${reason}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

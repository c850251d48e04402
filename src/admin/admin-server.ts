// The admin HTTP server, on its own address. GET and HEAD are read-only; POST runs operations. One request per
// connection, with limits on size and time, so that bad clients cannot block it; connection-limits.ts limits the
// connections. endpoints/ has the table of what it answers. A request is validated completely before its handler runs.
import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Address } from '../model/member.ts';
import { failure } from './answer.ts';
import { whyNotHere } from './callers.ts';
import { limitConnections } from './connection-limits.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { endpointsOf, type EndpointsOptions } from './endpoints/endpoints.ts';
import type { OperationLock } from './operation-lock.ts';
import { jsonBodyOf } from './json-body.ts';
import { isForPage, pageEndpoints, type PageOptions } from './endpoints/page-endpoints.ts';
import { listen, type ListenOutcome } from './listen.ts';
import { sendParts } from './long-answer.ts';
import { whyNotAllowed, type Token } from './permission.ts';
import { find } from './router.ts';
import type { Streams } from './streams.ts';
import { UnderWay } from './under-way.ts';

export interface AdminOptions extends EndpointsOptions, PageOptions {
  readonly address: Address;
  /** admin.allowed_hosts: public host names that are accepted. Read at every request. */
  readonly allowedHosts: () => readonly string[];
  /** Called at every operation, so that a changed file applies at once. */
  readonly token: () => Promise<Token>;
  /** Those of GET /events. */
  readonly streams: Streams;
  /** Shared by all operations on the cluster, those by other ways included. */
  readonly operationLock: OperationLock;
}

export interface Admin {
  readonly listen: () => Promise<ListenOutcome>;
  /** Ends streams cleanly and open connections too. Idempotent. */
  readonly close: () => Promise<void>;
}

// Importing node:http would also load fetch and WebSocket: 12 MB of memory.
const http: typeof Http = createRequire(import.meta.url)('node:http');

const MOST_HEADER_BYTES = 8 * 1024;
/** Deadlines for the head, and for head and body. */
const HEAD_MS = 2000;
const DEADLINE_MS = 5000;

export function createAdmin(options: AdminOptions): Admin {
  const dispatch: Dispatch = {
    ...options,
    endpoints: endpointsOf(options),
    page: pageEndpoints(options),
    underWay: new UnderWay(),
  };
  const server = http.createServer(
    {
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: HEAD_MS,
      requestTimeout: DEADLINE_MS,
      connectionsCheckingInterval: 500,
      keepAlive: false,
    },
    (request, response) => void respond(dispatch, request, response),
  );
  limitConnections(server);
  server.maxRequestsPerSocket = 1;
  // For a client that does not read.
  server.setTimeout(2 * DEADLINE_MS);
  server.on('clientError', refuse);
  return {
    listen: () => listen(server, options.address, 'admin.address'),
    close: () => close(server, dispatch.streams),
  };
}

interface Dispatch extends AdminOptions {
  readonly endpoints: readonly Endpoint[];
  readonly page: readonly Endpoint[];
  readonly underWay: UnderWay;
}

async function respond(options: Dispatch, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => {});
  const reply = await answer(options, request, response).catch((error: unknown) =>
    failure(500, error instanceof Error ? error.message : String(error)),
  );
  if ('stream' in reply) options.underWay.release(response);
  const plain = 'stream' in reply ? options.streams.begin(reply, response) : reply;
  if (plain === undefined) return;
  if ('parts' in plain) {
    response.writeHead(200, { 'content-type': plain.type, ...EVERY_ANSWER });
    return sendParts(response, plain.parts);
  }
  const { status, type, body, headers = {} } = plain;
  response.writeHead(status, {
    'content-type': type,
    ...(status === 304 ? {} : { 'content-length': Buffer.byteLength(body) }),
    ...EVERY_ANSWER,
    ...headers,
  });
  response.end(body);
}

const EVERY_ANSWER = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', connection: 'close' };

async function answer(options: Dispatch, request: IncomingMessage, response: ServerResponse): Promise<Reply> {
  const { method = '', url = '/', headers } = request;
  const [path = '/', query = ''] = url.split('?', 2);
  const found = find(isForPage(path, headers) ? options.page : options.endpoints, method, path);
  if (found.kind === 'missing') return found.answer;
  const { endpoint, parameters } = found;
  const full = endpoint.method === 'POST' || endpoint.access === 'probe' ? undefined : options.underWay.begin(response);
  if (full !== undefined) return full;
  const foreign = endpoint.access === 'probe' ? undefined : whyNotHere(headers, options.allowedHosts());
  if (foreign !== undefined) return failure(403, foreign);
  const { access } = endpoint;
  const guard = access === 'operation' ? access : 'private';
  const isSigned = headers.authorization !== undefined && access !== 'probe';
  const isGuarded = access === 'operation' || access === 'private';
  const forbidden = isGuarded || isSigned ? whyNotAllowed(await options.token(), guard, headers) : undefined;
  if (isGuarded && forbidden !== undefined) return forbidden;
  const isOperator = (isGuarded || isSigned) && forbidden === undefined;
  const sent = endpoint.method === 'POST' ? await jsonBodyOf(request, endpoint) : { kind: 'read' as const, value: {} };
  if (sent.kind === 'rejected') return sent.answer;
  const call = {
    parameters,
    query: new URLSearchParams(query),
    body: sent.value,
    headers,
    isOperator,
  };
  const prepared = endpoint.prepare(call);
  if (prepared.kind === 'invalid') {
    const [error = '', ...more] = prepared.problems;
    return failure(400, error, { problems: more.length === 0 ? undefined : prepared.problems });
  }
  request.socket.setTimeout(endpoint.answerMs);
  return prepared.isExclusive ? alone(options.operationLock, `POST ${path}`, prepared.run) : prepared.run();
}

/** Other operations that exclude each other are refused meanwhile. */
async function alone(operationLock: OperationLock, what: string, run: () => Reply | Promise<Reply>): Promise<Reply> {
  const leave = operationLock.enter(what);
  if (leave === undefined)
    return failure(409, `${operationLock.running() ?? 'another operation'} is running: try again after it`);
  try {
    return await run();
  } finally {
    leave();
  }
}

/**
 * Answers input that is not HTTP (a PostgreSQL startup packet, for example), and headers that are too long or too late.
 * A silent connection gets no answer: a browser keeps a spare one, and would take it for that to its next request.
 */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isSilent(socket)) {
    // After a pause of this process the request may be there, and is read before that.
    setImmediate(() => {
      if (isSilent(socket)) socket.destroy();
    });
    return;
  }
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
  const { body } = failure(400, 'this port serves HTTP: GET /livez, /readyz, /metrics or /status');
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function isSilent(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

function close(server: Server, streams: Streams): Promise<void> {
  streams.end();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

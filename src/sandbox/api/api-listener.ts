// The HTTP server of one member's manager (management API). It can be frozen: it accepts connections and answers none,
// like a process that a signal has stopped. It holds no state of the cluster.
import type { ManagerIdentity } from './node-document.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ManagerOperations } from '../manager/operation-outcomes.ts';
import type { DialectName } from '../sandbox.ts';
import { bind, closeNow, messageOf } from '../http-server.ts';
import { refusal } from './api-answer.ts';
import { dialectOf } from './dialect.ts';
import { createGate } from './gate.ts';
import { pythonError } from './python-error.ts';
import { answerTo, type ServerOptions } from './respond.ts';
import { writeHttp10, writeHttp11, writeRefusal } from './write-answer.ts';

export interface ApiServerOptions extends ManagerIdentity {
  readonly operations: ManagerOperations;
  readonly dialect: DialectName;
  /** Called when an answer could not be made, which is a bug. The client got 500. */
  readonly onError?: (error: unknown) => void;
  /** The time for a whole request to arrive. Default 10 s. */
  readonly requestTimeoutMs?: number;
}

export type ApiListening =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly why: string };

export interface ManagerServer {
  /** Port 0 chooses a free one. To be called once. */
  listen(host: string, port: number): Promise<ApiListening>;
  /** From now on connections are accepted and never answered. This includes requests that are already in progress. */
  freeze(): void;
  /** Answers the requests that wait. */
  thaw(): void;
  /** Each answer comes this much later from now on; 0: no longer. */
  slow(ms: number): void;
  /** Closes open connections too. Idempotent. */
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 16 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

export function createApiServer(options: ApiServerOptions): ManagerServer {
  const { operations, version, scope, name, onError = () => {}, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const gate = createGate();
  const serving: ServerOptions = {
    operations,
    dialect: dialectOf(options.dialect),
    about: { version, scope, name },
    gate,
    onError,
  };
  const respond = options.dialect === 'manager' ? respondHttp11(serving) : respondHttp10(serving);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
      // Health checkers send HTTP/1.1 without a Host header.
      requireHostHeader: false,
    },
    respond,
  );
  server.on('clientError', (error, socket) => void refuse(error, socket, serving));
  return {
    listen: (host, port) =>
      bind(server, host, port).then(
        (bound) => ({ kind: 'listening', port: bound }),
        (error: unknown) => ({ kind: 'failed', why: messageOf(error) }),
      ),
    freeze: () => gate.shut(),
    thaw: () => gate.open(),
    slow: (ms) => gate.slow(ms),
    // Requests at a shut gate wait for ever: a dead server carries nothing out.
    close: () => closeNow(server),
  };
}

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

function respondHttp11(serving: ServerOptions): Respond {
  return (request, response) => {
    response.on('error', () => {});
    void answerHttp11(request, response, serving);
  };
}

function respondHttp10(serving: ServerOptions): Respond {
  // One answer for each connection, whatever a client sends after its request.
  const answered = new WeakSet<Socket>();
  return (request) => {
    if (answered.has(request.socket)) return;
    answered.add(request.socket);
    void answerHttp10(request, serving);
  };
}

async function answerHttp11(request: IncomingMessage, response: ServerResponse, serving: ServerOptions): Promise<void> {
  const answer = await answerTo(request, serving);
  if (answer !== undefined && !response.destroyed) writeHttp11(response, answer);
}

async function answerHttp10(request: IncomingMessage, serving: ServerOptions): Promise<void> {
  const answer = await answerTo(request, serving);
  if (answer !== undefined) writeHttp10(request, answer);
}

/** For input that is not HTTP, too large, or too late. */
async function refuse(error: NodeJS.ErrnoException, socket: Duplex, { gate, dialect }: ServerOptions): Promise<void> {
  socket.on('error', () => {});
  await gate.passed();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const answer =
    dialect.name === 'patroni' ? pythonError(status) : refusal(status, 'GET', error.message, dialect.textType);
  writeRefusal(socket, dialect.name, answer);
}

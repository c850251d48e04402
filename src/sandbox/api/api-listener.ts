// The HTTP server of one member's manager (management API). It can be frozen: it accepts connections and answers none,
// like a process that a signal has stopped. It holds no state of the cluster.
import type { ManagerIdentity } from './node-document.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ManagerOperations } from '../manager/operation-outcomes.ts';
import type { DialectName } from '../sandbox.ts';
import { bind, closeNow } from '../http-server.ts';
import { refusal } from './api-answer.ts';
import { dialectOf } from './dialect.ts';
import { Gate } from '../gate.ts';
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

export interface ManagerServer {
  /** Resolves with the port; 0 chooses a free one. Rejects when the server cannot listen. To be called once. */
  listen(host: string, port: number): Promise<number>;
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
  const gate = new Gate();
  const serving: ServerOptions = {
    operations,
    dialect: dialectOf(options.dialect),
    about: { version, scope, name },
    gate,
    delayMs: 0,
    onError,
  };
  const respond = responder(serving);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
      // Health checkers send HTTP/1.1 without a Host header.
      requireHostHeader: false,
    },
    (request, response) => void respond(request, response),
  );
  server.on('clientError', (error, socket) => void refuse(error, socket, serving));
  return {
    listen: (host, port) => bind(server, host, port),
    freeze: () => gate.shut(),
    thaw: () => gate.open(),
    slow: (ms) => {
      serving.delayMs = ms;
    },
    // Requests at a shut gate wait for ever: a dead server carries nothing out.
    close: () => closeNow(server),
  };
}

function responder(serving: ServerOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const isHttp10 = serving.dialect.name === 'patroni';
  const answered = new WeakSet<Socket>();
  return async (request, response) => {
    response.on('error', () => {});
    // With HTTP/1.0 one answer for each connection, whatever a client sends after its request.
    if (isHttp10 && answered.has(request.socket)) return;
    answered.add(request.socket);
    const answer = await answerTo(request, serving);
    if (answer === undefined) return;
    if (isHttp10) writeHttp10(request, answer);
    else if (!response.destroyed) writeHttp11(response, answer);
  };
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

// One GET, one socket, one deadline. Owns the socket from connect to destroy. No pooling, keep-alive, redirects,
// proxies or credentials. Every result is a value. Patroni serves HTTP/1.0 with a few threads: an abandoned socket
// would block one of them.
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
// Only the client of undici is loaded: the whole package would keep 13 MB more in memory (fetch, WebSocket, caches).
import Client from 'undici/lib/dispatcher/client.js';
import type { ApiEndpoint } from '../model/member.ts';
import { AnswerBody } from './answer-body.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { AnswerError, failure } from './failure.ts';
import type { ReadFailure } from './failure.ts';
import { isHttps, openSocket } from './socket.ts';
import type { TlsSource } from './tls-files.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Counts names and values. Real answers have about ten headers, and a header takes more memory than its bytes. */
const MAX_HEADER_ITEMS = 2 * 100;
/** All bytes of one answer, with headers and the framing of chunks. */
const MAX_WIRE_BYTES = 1024 * 1024;
/** Interim answers (1xx, for example 103 Early Hints) before the final one. Patroni sends none. */
const MAX_INTERIM_ANSWERS = 4;

export interface Request {
  readonly api: ApiEndpoint;
  /** Path and query. */
  readonly path: string;
  /** Limit for connect, TLS, headers and body together. Milliseconds. */
  readonly deadlineMs: number;
  /**
   * Limit for the TCP connect alone, milliseconds. The kernel does not repeat a lost SYN within an ordinary deadline.
   */
  readonly connectMs?: number;
  /** Called when TCP is connected. */
  readonly onConnected?: () => void;
  /** For https. Absent: Node's defaults. */
  readonly tls?: TlsSource | undefined;
}

export type HttpResult = { readonly kind: 'answered'; readonly status: number; readonly body: string } | ReadFailure;

/** Never rejects. Destroys the socket before it returns. */
export async function get(request: Request): Promise<HttpResult> {
  const { api, path, deadlineMs, connectMs = deadlineMs, onConnected } = request;
  if (isIP(api.address.host) === 0) return unresolved(api);
  let socket: Socket | undefined;
  let client: Client | undefined;
  const end = (): void => {
    void client?.destroy();
    socket?.destroy();
  };
  const deadline = startDeadline(deadlineMs, end);
  let connectDeadline: Deadline | undefined;
  try {
    const tls = (isHttps(api) ? await request.tls?.() : undefined) ?? {};
    // Reading the files may take longer than the deadline.
    if (deadline.hasExpired()) return timedOut(deadlineMs);
    client = new Client(api.url, {
      connect: (_options, callback) => {
        const opened = openSocket(api, tls);
        socket = opened;
        connectDeadline = startDeadline(connectMs, end);
        opened.once('connect', () => {
          connectDeadline?.cancel();
          onConnected?.();
        });
        const fail = (error: Error): void => callback(error, null);
        opened.once('error', fail);
        opened.once(isHttps(api) ? 'secureConnect' : 'connect', () => {
          opened.off('error', fail);
          callback(null, opened);
        });
        // An error after the end has no owner.
        opened.on('error', () => {});
      },
      pipelining: 0,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    return await exchange(client, path, () => limitBytes(socket));
  } catch (error) {
    const ended = deadline.hasExpired()
      ? timedOut(deadlineMs)
      : connectDeadline?.hasExpired() === true
        ? unconnected(connectMs)
        : failure(error);
    const stalledMs = deadline.stalledMs();
    return ended.kind === 'failed' && stalledMs > STALL_MS ? stalled(stalledMs) : ended;
  } finally {
    deadline.cancel();
    connectDeadline?.cancel();
    end();
  }
}

/** Only checked addresses are contacted (guarantees.md: trust). A name is not one. */
function unresolved(api: ApiEndpoint): ReadFailure {
  return { kind: 'failed', cause: 'local', detail: `the address of ${api.address.host} is not known` };
}

function timedOut(deadlineMs: number): ReadFailure {
  return { kind: 'failed', cause: 'timeout', detail: `no whole answer within ${deadlineMs} ms` };
}

function unconnected(connectMs: number): ReadFailure {
  return { kind: 'failed', cause: 'timeout', detail: `no connection within ${connectMs} ms` };
}

function stalled(ms: number): ReadFailure {
  return { kind: 'failed', cause: 'local', detail: `this process stood still for ${Math.round(ms)} ms of the request` };
}

function limitBytes(socket: Socket | undefined): void {
  socket?.on('readable', () => {
    if (socket.bytesRead > MAX_WIRE_BYTES) socket.destroy(new AnswerError('oversized', `over ${MAX_WIRE_BYTES} bytes`));
  });
}

/** Rejects with the error. `onSent` is called when the request is on its way. */
function exchange(client: Client, path: string, onSent: () => void): Promise<HttpResult> {
  return new Promise((resolve, reject) => {
    const body = new AnswerBody();
    let status = 0;
    let interim = 0;
    client.dispatch(
      { method: 'GET', path, headers: { accept: 'application/json' } },
      {
        onRequestStart: onSent,
        onResponseStart(controller, statusCode) {
          status = statusCode;
          if (statusCode < 200) interim += 1;
          if (interim > MAX_INTERIM_ANSWERS) {
            controller.abort(new AnswerError('malformed', `more than ${MAX_INTERIM_ANSWERS} interim answers`));
          } else if (Array.isArray(controller.rawHeaders) && controller.rawHeaders.length > MAX_HEADER_ITEMS) {
            controller.abort(new AnswerError('oversized', `more than ${MAX_HEADER_ITEMS / 2} headers`));
          }
        },
        onResponseData(controller, chunk) {
          const excess = body.add(chunk);
          if (excess !== undefined) controller.abort(new AnswerError('oversized', excess));
        },
        onResponseEnd() {
          resolve({ kind: 'answered', status, body: body.text() });
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
  });
}

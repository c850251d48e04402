// One GET, one socket, one deadline. Owns the socket from connect to destroy; nothing is pooled, kept alive, redirected or
// proxied, no credentials are sent, and every ending is a value. Patroni answers HTTP/1.0 from a handful of threads: a socket
// left behind is a thread taken from it.
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
// The one part of undici that is used: all of it would keep 13 MB more (its fetch, WebSocket and caches) for a proxy's whole life.
import Client from 'undici/lib/dispatcher/client.js';
import type { ApiEndpoint } from '../model/member.ts';
import { AnswerBody } from './answer-body.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { AnswerError, failure } from './failure.ts';
import type { Failure } from './failure.ts';
import { isHttps, openSocket } from './socket.ts';
import type { TlsSource } from './tls-files.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Names and values. Real answers have about ten headers; each header costs more memory than its bytes. */
const MAX_HEADER_ITEMS = 2 * 100;
/** All bytes of one answer, with headers and the framing of chunks. */
const MAX_WIRE_BYTES = 1024 * 1024;
/** Interim answers (1xx, for example 103 Early Hints) before the final one. Patroni sends none. */
const MAX_INTERIM_ANSWERS = 4;

export interface Request {
  readonly api: ApiEndpoint;
  /** Path and query, as sent. */
  readonly path: string;
  /** For connect, TLS, headers and body together; milliseconds. */
  readonly deadlineMs: number;
  /**
   * For the TCP connect alone; milliseconds. A connect that the network lost is not repeated within an ordinary
   * deadline.
   */
  readonly connectMs?: number;
  /** TCP is connected. */
  readonly onConnected?: () => void;
  /** For https; absent: the defaults of Node. */
  readonly tls?: TlsSource | undefined;
}

export type HttpResult = { readonly kind: 'answered'; readonly status: number; readonly body: string } | Failure;

/** Never rejects. The socket is destroyed before the result is there. */
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
    // Files may take longer than the deadline.
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
        // Errors after the end are nobody's.
        opened.on('error', () => {});
      },
      pipelining: 0,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    return await exchange(client, path, () => boundBytes(socket));
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

/** Contact is made only with addresses that were checked (guarantees.md: trust); a name is not one. */
function unresolved(api: ApiEndpoint): Failure {
  return { kind: 'failed', cause: 'local', detail: `the address of ${api.address.host} is not known` };
}

function timedOut(deadlineMs: number): Failure {
  return { kind: 'failed', cause: 'timeout', detail: `no whole answer within ${deadlineMs} ms` };
}

function unconnected(connectMs: number): Failure {
  return { kind: 'failed', cause: 'timeout', detail: `no connection within ${connectMs} ms` };
}

function stalled(ms: number): Failure {
  return { kind: 'failed', cause: 'local', detail: `this process stood still for ${Math.round(ms)} ms of the request` };
}

function boundBytes(socket: Socket | undefined): void {
  socket?.on('readable', () => {
    if (socket.bytesRead > MAX_WIRE_BYTES) socket.destroy(new AnswerError('oversized', `over ${MAX_WIRE_BYTES} bytes`));
  });
}

/** Rejects with whatever broke it. `onSent` is called once the socket is connected and the request is under way. */
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

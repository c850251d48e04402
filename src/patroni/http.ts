// One request, one socket, one deadline. Owns the socket from connect to destroy. No pooling, keep-alive, redirects or
// proxies. Every result is a value. Patroni serves HTTP/1.0 with a few threads: an abandoned socket would block one of
// them.
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

/** As much as nginx takes of a server behind it. */
const MAX_HEADER_BYTES = 8 * 1024;
/** Counts names and values. Real answers have about ten headers, and a header takes more memory than its bytes. */
const MAX_HEADER_ITEMS = 2 * 100;
/** All bytes of one answer, with headers and the framing of chunks. */
const MAX_WIRE_BYTES = 1024 * 1024;
/** Interim answers (1xx, for example 103 Early Hints) before the final one. Patroni sends none. */
const MAX_INTERIM_ANSWERS = 4;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Request {
  readonly api: ApiEndpoint;
  /** Default: GET. */
  readonly method?: Method;
  /** Path and query. */
  readonly path: string;
  /** Sent as JSON. Undefined: no body. */
  readonly body?: unknown;
  /** The value of the header Authorization. */
  readonly authorization?: string | undefined;
  /** Limit for connect, TLS, headers and body together. Milliseconds. */
  readonly deadlineMs: number;
  /**
   * Limit for the TCP connect alone, milliseconds. The kernel does not repeat a lost SYN within an ordinary deadline.
   */
  readonly connectMs?: number;
  /** Called when TCP is connected. */
  readonly onConnected?: () => void;
  /** Called when the first byte of the request may leave: from here on the API may act on it. */
  readonly onSent?: () => void;
  /** For https. Absent: Node's defaults. */
  readonly tls?: TlsSource | undefined;
}

export type HttpResult = { readonly kind: 'answered'; readonly status: number; readonly body: string } | ReadFailure;

/** Never rejects. Destroys the socket before it returns. */
export async function send(request: Request): Promise<HttpResult> {
  const { api, deadlineMs, connectMs = deadlineMs, onConnected } = request;
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
        const opened = openSocket(api, tls, Math.min(connectMs, deadlineMs));
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
    return await exchange(client, request, () => limitBytes(socket));
  } catch (error) {
    const ended = deadline.hasExpired()
      ? timedOut(deadlineMs)
      : connectDeadline?.hasExpired() === true
        ? unconnected(connectMs)
        : failure(error);
    const stalledMs = deadline.stalledMs();
    return ended.kind === 'failed' && stalledMs > stallLimit(deadlineMs) ? stalled(stalledMs) : ended;
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

/** Over the minutes of a switchover the short delays of a busy process add up without meaning anything. */
function stallLimit(deadlineMs: number): number {
  return Math.max(STALL_MS, deadlineMs / 20);
}

/** Rejects with the error. `onStart` is called when the request is on its way. */
function exchange(client: Client, request: Request, onStart: () => void): Promise<HttpResult> {
  const { method = 'GET', path, onSent } = request;
  return new Promise((resolve, reject) => {
    const body = new AnswerBody();
    let status = 0;
    let interim = 0;
    client.dispatch(
      { method, path, headers: headersOf(request), ...bodyOf(request) },
      {
        onRequestStart() {
          onStart();
          onSent?.();
        },
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

function headersOf({ body, authorization }: Request): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (authorization !== undefined) headers['authorization'] = authorization;
  return headers;
}

function bodyOf({ body }: Request): { body?: string } {
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

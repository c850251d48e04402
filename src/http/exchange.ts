// One request on a connection of its own, the only HTTP client here: no pooling, keep-alive, redirects or proxies. It
// owns the socket from connect to destroy. Its errors are ExchangeErrors, with our own words: a library's message may
// have a part of the request. Its users decide on the server: patroni/ contacts an address that was checked, the others
// an API that gets a key.
// Only the client of undici is loaded: the whole package would keep 13 MB more in memory (fetch, WebSocket, caches).
import type { Socket } from 'node:net';
import Client from 'undici/lib/dispatcher/client.js';
import { AnswerBody } from './answer-body.ts';
import { errorOf, ExchangeError, faultError } from './exchange-error.ts';
import { openSocket, type SocketTarget } from './open-socket.ts';

export interface ExchangeLimits {
  readonly headerBytes: number;
  /** The body as it is kept. On the wire, with headers and the framing of chunks, four times as much. */
  readonly bodyBytes: number;
}

export interface ExchangeRequest extends SocketTarget {
  /** Default: GET. */
  readonly method?: string | undefined;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** The body as a value. */
  readonly json?: unknown;
  /** Default: those of an API that is trusted, whose lists are long. */
  readonly limits?: ExchangeLimits | undefined;
  /** For connect, TLS, headers and body together. Milliseconds. Absent: `signal` alone ends it. */
  readonly deadlineMs?: number | undefined;
  /** For the TCP connect alone. The kernel does not repeat a lost SYN within an ordinary deadline. Milliseconds. */
  readonly connectMs?: number | undefined;
  /** Ends it early. Its reason is the error if it is an ExchangeError. */
  readonly signal?: AbortSignal | undefined;
  /** Called when TCP is connected. */
  readonly onConnected?: (() => void) | undefined;
  /** Called when the first byte of the request may leave: from here on the server may act on it. */
  readonly onSent?: (() => void) | undefined;
  /** Returns what takes the body as it comes, without a limit. Undefined: the whole body is the answer's. */
  readonly onStatus?: ((status: number) => ((chunk: Uint8Array) => void) | undefined) | undefined;
}

export interface ExchangeAnswer {
  readonly status: number;
  /** The clock of the server: its header Date. Whole seconds, as milliseconds since the epoch. Absent: it sent none. */
  readonly date?: number;
  readonly body: string;
}

/** A list of ten thousand branches has about 4 MB. */
const LIMITS: ExchangeLimits = { headerBytes: 16 * 1024, bodyBytes: 16 * 1024 * 1024 };
/** Counts names and values. Real answers have about ten headers, and a header takes more memory than its bytes. */
const MAX_HEADER_ITEMS = 2 * 100;
/** Interim answers (1xx, for example 103 Early Hints) before the final one. */
const MAX_INTERIM_ANSWERS = 4;
const WIRE_BYTES = 4;

/** Resolves with any answer, whatever its status. Rejects with an ExchangeError. The socket is destroyed by then. */
export async function exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
  const { url, limits = LIMITS, deadlineMs, connectMs, signal } = request;
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  let socket: Socket | undefined;
  let broken: Error | undefined;
  let isSent = false;
  const client = new Client(new URL(url).origin, {
    connect: (_options, callback) => {
      socket = openSocket(request, connected, (error, opened) => {
        if (error !== null) return callback(error, null);
        // undici takes an alert behind the handshake for the end of the connection.
        opened.once('error', (fault) => (broken = fault));
        return callback(null, opened);
      });
    },
    pipelining: 0,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: limits.headerBytes,
  });
  const abort = (): void =>
    end(signal?.reason instanceof ExchangeError ? signal.reason : new ExchangeError('local', 'interrupted'));
  const late = (ms: number | undefined, what: string): NodeJS.Timeout | undefined =>
    ms === undefined
      ? undefined
      : setTimeout(() => end(new ExchangeError('timeout', `no ${what} within ${ms} ms`)), ms);
  const timers = [late(deadlineMs, 'whole answer'), late(connectMs, 'connection')];
  const connected = (): void => {
    clearTimeout(timers[1]);
    request.onConnected?.();
  };
  signal?.addEventListener('abort', abort);
  const onSent = (): void => {
    isSent = true;
    limitBytes(socket, request);
    request.onSent?.();
  };
  try {
    if (signal?.aborted === true) abort();
    return await Promise.race([ended, dispatch(client, request, onSent)]);
  } catch (error) {
    const ended = errorOf(error, isSent);
    throw ended.fault === 'reset' && broken !== undefined ? errorOf(broken, isSent) : ended;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    void client.destroy();
    socket?.destroy();
  }
}

function limitBytes(socket: Socket | undefined, { limits = LIMITS, onStatus }: ExchangeRequest): void {
  const most = onStatus === undefined ? WIRE_BYTES * limits.bodyBytes : Infinity;
  socket?.on('readable', () => {
    if (socket.bytesRead > most) socket.destroy(faultError('oversized', `over ${most} bytes`));
  });
}

function dispatch(client: Client, request: ExchangeRequest, onSent: () => void): Promise<ExchangeAnswer> {
  const { method = 'GET', path, json, limits = LIMITS, onStatus } = request;
  const headers = { ...(json !== undefined && { 'content-type': 'application/json' }), ...request.headers };
  const sent = json === undefined ? (request.body ?? null) : JSON.stringify(json);
  const { promise, resolve, reject } = Promise.withResolvers<ExchangeAnswer>();
  const body = new AnswerBody(limits.bodyBytes);
  let take: ((chunk: Uint8Array) => void) | undefined;
  let [status, interim] = [0, 0];
  let date: number | undefined;
  client.dispatch(
    { method, path, headers, body: sent },
    {
      onRequestStart: onSent,
      onResponseStart(controller, statusCode, answered) {
        status = statusCode;
        if (statusCode < 200) interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) {
          controller.abort(faultError('malformed', `more than ${MAX_INTERIM_ANSWERS} interim answers`));
        } else if (Array.isArray(controller.rawHeaders) && controller.rawHeaders.length > MAX_HEADER_ITEMS) {
          controller.abort(faultError('oversized', `more than ${MAX_HEADER_ITEMS / 2} headers`));
        } else if (statusCode >= 200) {
          date = dateOf(answered['date']);
          take = onStatus?.(statusCode);
        }
      },
      onResponseData(controller, chunk) {
        if (take !== undefined) return take(chunk);
        const excess = body.add(chunk);
        if (excess !== undefined) controller.abort(faultError('oversized', excess));
      },
      onResponseEnd: () => resolve({ status, body: body.text(), ...(date !== undefined && { date }) }),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  return promise;
}

function dateOf(header: unknown): number | undefined {
  const date = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}

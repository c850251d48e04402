// One GET, one socket, one deadline. Owns the socket from connect to destroy; nothing is pooled, kept alive, redirected or
// proxied, no credentials are sent, and every ending is a value. Patroni answers HTTP/1.0 from a handful of threads: a socket
// left behind is a thread taken from it.
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
// The one part of undici that is used: all of it would keep 13 MB more (its fetch, WebSocket and caches) for a proxy's whole life.
import Client from 'undici/lib/dispatcher/client.js';
import type { ApiEndpoint } from '../core/member.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import { failure } from './failure.ts';
import type { Failure } from './failure.ts';
import { isHttps, openSocket } from './socket.ts';
import type { TlsSource } from './tls-files.ts';

/** Largest body read; a status document of a cluster with many replicas has a few kilobytes. */
const MAX_BODY_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;

export interface Request {
  readonly api: ApiEndpoint;
  /** Path and query, as sent. */
  readonly path: string;
  /** For connect, TLS, headers and body together; milliseconds. */
  readonly deadlineMs: number;
  /** For https; absent: the defaults of Node. */
  readonly tls?: TlsSource | undefined;
}

export type HttpResult = { readonly kind: 'answered'; readonly status: number; readonly body: string } | Failure;

/** Never rejects. The socket is destroyed before the result is there. */
export async function get(request: Request): Promise<HttpResult> {
  const { api, path, deadlineMs } = request;
  if (isIP(api.address.host) === 0) return unresolved(api);
  let socket: Socket | undefined;
  let client: Client | undefined;
  const deadline = startDeadline(deadlineMs, () => {
    void client?.destroy();
    socket?.destroy();
  });
  try {
    const tls = (isHttps(api) ? await request.tls?.() : undefined) ?? {};
    // Files may take longer than the deadline.
    if (deadline.hasExpired()) return timedOut(deadlineMs);
    client = new Client(api.url, {
      connect: (_options, callback) => {
        const opened = openSocket(api, tls);
        socket = opened;
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
      maxResponseSize: MAX_BODY_BYTES,
    });
    return await exchange(client, path);
  } catch (error) {
    const ended = deadline.hasExpired() ? timedOut(deadlineMs) : failure(error);
    const stalledMs = deadline.stalledMs();
    return ended.kind === 'failed' && stalledMs > STALL_MS ? stalled(stalledMs) : ended;
  } finally {
    deadline.cancel();
    socket?.destroy();
    void client?.destroy();
  }
}

/** Contact is made only with addresses that were checked (behaviour: trust); a name is not one. */
function unresolved(api: ApiEndpoint): Failure {
  return { kind: 'failed', cause: 'local', detail: `the address of ${api.address.host} is not known` };
}

function timedOut(deadlineMs: number): Failure {
  return { kind: 'failed', cause: 'timeout', detail: `no whole answer within ${deadlineMs} ms` };
}

function stalled(ms: number): Failure {
  return { kind: 'failed', cause: 'local', detail: `this process stood still for ${Math.round(ms)} ms of the request` };
}

/** Rejects with whatever broke it. */
function exchange(client: Client, path: string): Promise<HttpResult> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let status = 0;
    client.dispatch(
      { method: 'GET', path, headers: { accept: 'application/json' } },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          resolve({ kind: 'answered', status, body: Buffer.concat(chunks).toString('utf8') });
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
  });
}

// One GET, one socket, one deadline. Owns the socket from connect to destroy; nothing is pooled, kept alive, redirected or
// proxied, no credentials are sent, and every ending is a value. Patroni answers HTTP/1.0 from a handful of threads: a socket
// left behind is a thread taken from it.
import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { ApiEndpoint } from '../core/member.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import { broken, failure } from './failure.ts';
import type { Failure } from './failure.ts';
import { isHttps, openSocket } from './socket.ts';
import type { TlsSource } from './tls-files.ts';

// An import of node:http has Node load its fetch and its WebSocket as well: 12 MB of memory that nobody here uses.
const http: typeof Http = createRequire(import.meta.url)('node:http');

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
  const { api, deadlineMs } = request;
  if (isIP(api.address.host) === 0) return unresolved(api);
  let socket: Socket | undefined;
  const deadline = startDeadline(deadlineMs, () => socket?.destroy());
  try {
    const tls = (isHttps(api) ? await request.tls?.() : undefined) ?? {};
    // Files may take longer than the deadline.
    if (deadline.hasExpired()) return timedOut(deadlineMs);
    socket = openSocket(api, tls);
    const result = await exchange(request, socket);
    if (result.kind !== 'failed') return result;
    const ended = deadline.hasExpired() ? timedOut(deadlineMs) : result;
    const stalledMs = deadline.stalledMs();
    return ended.kind === 'failed' && stalledMs > STALL_MS ? stalled(stalledMs) : ended;
  } catch (error) {
    return failure(error);
  } finally {
    deadline.cancel();
    socket?.destroy();
  }
}

/** Resolves at the first ending, whichever it is. */
function exchange({ api, path }: Request, socket: Socket): Promise<HttpResult> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => resolve(failure(error));
    // Errors after the end are nobody's.
    socket.on('error', fail);
    const asking = http.request({
      createConnection: () => socket,
      path,
      headers: { host: new URL(api.url).host, accept: 'application/json' },
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    asking
      .on('error', fail)
      .on('information', () => resolve(broken('malformed', 'an interim answer')))
      .on('upgrade', () => resolve(broken('malformed', 'an upgrade')))
      .on('response', (response: IncomingMessage) => read(response, resolve));
    asking.end();
  });
}

function read(response: IncomingMessage, resolve: (result: HttpResult) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response
    .on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) resolve(broken('oversized', `more than ${MAX_BODY_BYTES} bytes`));
    })
    .on('error', (error) => resolve(failure(error)))
    .on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      resolve({ kind: 'answered', status: response.statusCode ?? 0, body });
    });
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

// One exchange with a management API. Only a checked address is contacted, whatever the URL's name resolves to now.
// Every result is a value. Patroni serves HTTP/1.0 with a few threads: an abandoned socket would block one of them.
import { isIP } from 'node:net';
import { exchange } from '../http/exchange.ts';
import { ExchangeError } from '../http/exchange-error.ts';
import type { ApiEndpoint } from '../model/member.ts';
import { tcpTarget } from '../model/tcp-target.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import { failure, type ReadFailure } from './failure.ts';
import type { TlsSource } from './tls-files.ts';

/** Headers: as much as nginx takes of a server behind it. The document of a large cluster has a few kilobytes. */
const LIMITS = { headerBytes: 8 * 1024, bodyBytes: 256 * 1024 };

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
  /** Limit for the TCP connect alone. Milliseconds. */
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
export async function send({ api, body, authorization, method = 'GET', ...request }: Request): Promise<HttpResult> {
  const { deadlineMs, connectMs } = request;
  if (isIP(api.address.host) === 0) return unresolved(api);
  const late = new AbortController();
  const why = `no whole answer within ${deadlineMs} ms`;
  const deadline = startDeadline(deadlineMs, () => late.abort(new ExchangeError('timeout', why)));
  try {
    const tls = api.url.startsWith('https:') ? await request.tls?.() : undefined;
    const answer = await exchange({
      url: api.url,
      target: tcpTarget(api.address, Math.min(connectMs ?? deadlineMs, deadlineMs)),
      tls,
      method,
      path: request.path,
      headers: { accept: 'application/json', ...(authorization !== undefined && { authorization }) },
      json: body,
      limits: LIMITS,
      signal: late.signal,
      connectMs,
      onConnected: request.onConnected,
      onSent: request.onSent,
    });
    return { kind: 'answered', ...answer };
  } catch (error) {
    const ended = failure(error);
    const stalledMs = deadline.stalledMs();
    return ended.kind === 'failed' && stalledMs > stallLimit(deadlineMs) ? stalled(stalledMs) : ended;
  } finally {
    deadline.cancel();
  }
}

/** Only checked addresses are contacted (guarantees.md: trust). A name is not one. */
function unresolved(api: ApiEndpoint): ReadFailure {
  return { kind: 'failed', cause: 'local', detail: `the address of ${api.address.host} is not known` };
}

function stalled(ms: number): ReadFailure {
  return { kind: 'failed', cause: 'local', detail: `this process stood still for ${Math.round(ms)} ms of the request` };
}

/** Over the minutes of a switchover the short delays of a busy process add up without meaning anything. */
function stallLimit(deadlineMs: number): number {
  return Math.max(STALL_MS, deadlineMs / 20);
}

// One exchange with a management API. Only a checked address is contacted, whatever the URL's name resolves to now.
// Every result is a value. Patroni serves HTTP/1.0 with a few threads: an abandoned socket would block one of them.
import { isIP } from 'node:net';
import { exchange, type ExchangeAnswer, type ExchangeRequest } from '../http/exchange.ts';
import { ExchangeError } from '../http/exchange-error.ts';
import type { ApiEndpoint } from '../model/member.ts';
import { tcpTarget } from '../model/tcp-target.ts';
import { startDeadline, STALL_MS } from './deadline.ts';
import { failure, type ReadFailure } from './failure.ts';
import type { TlsSource } from './tls-files.ts';

/** Headers: as much as nginx takes of a server behind it. The document of a large cluster has a few kilobytes. */
const LIMITS = { headerBytes: 8 * 1024, bodyBytes: 256 * 1024 };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Request extends Pick<ExchangeRequest, 'path' | 'connectMs' | 'onConnected' | 'onSent'> {
  readonly api: ApiEndpoint;
  /** Default: GET. */
  readonly method?: Method;
  /** Sent as JSON. Undefined: no body. */
  readonly body?: unknown;
  /** The value of the header Authorization. */
  readonly authorization?: string | undefined;
  /** Limit for connect, TLS, headers and body together. Milliseconds. */
  readonly deadlineMs: number;
  /** For https. Absent: Node's defaults. */
  readonly tls?: TlsSource | undefined;
}

export type HttpResult = ({ readonly kind: 'answered' } & ExchangeAnswer) | ReadFailure;

/** Never rejects. Destroys the socket before it returns. */
export async function send(request: Request): Promise<HttpResult> {
  const { api, body, authorization, tls, deadlineMs, ...exchanged } = request;
  // Only checked addresses are contacted (guarantees.md: trust). A name is not one.
  if (isIP(api.address.host) === 0) return local(`the address of ${api.address.host} is not known`);
  const late = new AbortController();
  const why = `no whole answer within ${deadlineMs} ms`;
  const deadline = startDeadline(deadlineMs, () => late.abort(new ExchangeError('timeout', why)));
  try {
    const answer = await exchange({
      ...exchanged,
      url: api.url,
      target: tcpTarget(api.address, Math.min(request.connectMs ?? deadlineMs, deadlineMs)),
      tls: api.url.startsWith('https:') ? await tls?.() : undefined,
      headers: { accept: 'application/json', ...(authorization !== undefined && { authorization }) },
      json: body,
      limits: LIMITS,
      signal: late.signal,
    });
    return { kind: 'answered', ...answer };
  } catch (error) {
    const ended = failure(error);
    const stalledMs = deadline.stalledMs();
    if (ended.kind === 'refused' || stalledMs <= stallLimit(deadlineMs)) return ended;
    return local(`this process stood still for ${Math.round(stalledMs)} ms of the request`);
  } finally {
    deadline.cancel();
  }
}

function local(detail: string): ReadFailure {
  return { kind: 'failed', cause: 'local', detail };
}

/** Over the minutes of a switchover the short delays of a busy process add up without meaning anything. */
function stallLimit(deadlineMs: number): number {
  return Math.max(STALL_MS, deadlineMs / 20);
}

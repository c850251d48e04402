// One request to an API, on a connection of its own, with one deadline for everything and a limited body. Follows no
// redirect: the key goes to the configured server alone. Its errors have our own words, the path and the status. The
// body of a refusal may follow, without secrets. A header and the body of a success never do: that of a creation may
// hold passwords.
// Only the client of undici is loaded: the whole package would keep 13 MB more in memory (fetch, WebSocket, caches).
import Client from 'undici/lib/dispatcher/client.js';
import { shown } from '../model/printable.ts';
import { excerpt } from './excerpt.ts';

export interface ApiServer {
  /** In errors: `the storage node`. */
  readonly name: string;
  /** Its base address, with a path or without. */
  readonly url: string;
  /** For the whole request: connect, TLS, headers and body. Milliseconds. */
  readonly timeoutMs: number;
  /** Read at each use, because its file may change. Rejects with an ApiError. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base address. Its parts are encoded. */
  readonly path: string;
  /** JSON text, or a form. */
  readonly body?: string | Uint8Array;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
  /** The server's own headers, as they were sent with the request. */
  readonly sent: Readonly<Record<string, string>>;
}

/**
 * `denied`: 401 or 403. `rejected`: any other answer below 500 that is no success. `invalid_answer`: a body that cannot
 * be read. `local`: a file of ours, such as the key, or an interruption.
 */
export type ApiFailure =
  | 'unreachable'
  | 'timeout'
  | 'denied'
  | 'rejected'
  | 'server_error'
  | 'invalid_answer'
  | 'local';

/** Why an API has not done its part. The message is one clause without a secret. */
export class ApiError extends Error {
  readonly failure: ApiFailure;
  /** Of the answer, if there was one. */
  readonly status: number | undefined;
  /** False: the server certainly has not received the request. */
  readonly wasSent: boolean;

  constructor(failure: ApiFailure, message: string, status?: number, wasSent = status !== undefined) {
    super(message);
    this.failure = failure;
    this.status = status;
    this.wasSent = wasSent;
  }
}

/** A list of ten thousand branches has about 4 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Resolves with any answer, whatever its status. Rejects with an ApiError. */
export async function sendRequest(server: ApiServer, request: ApiRequest): Promise<ApiAnswer> {
  const { path, method, signal } = request;
  const what = `${method} ${path} of ${server.name}`;
  const sent = await server.headers();
  const headers = { accept: 'application/json', 'user-agent': 'pointsman', ...sent };
  const base = baseOf(server);
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  ended.catch(() => {});
  const timer = setTimeout(
    () => end(new CutShort('timeout', `no whole answer within ${server.timeoutMs} ms`)),
    server.timeoutMs,
  );
  const abort = (): void => end(new CutShort('local', 'interrupted'));
  signal?.addEventListener('abort', abort);
  if (signal?.aborted === true) abort();
  const client = new Client(base.origin, {
    connect: { timeout: 0 },
    pipelining: 0,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const whole = exchange(client, { ...request, headers, path: base.path + path });
    return { ...(await Promise.race([whole, ended])), sent };
  } catch (error) {
    const { failure, why, wasSent } = cutShortBy(error);
    throw new ApiError(failure, `${what}: ${why}`, undefined, wasSent);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    void client.destroy();
  }
}

/**
 * The answer's failure as an error, with the beginning of its body. `secrets`: the values that were sent and must not
 * appear.
 */
export function statusError(
  { name }: ApiServer,
  { method, path }: ApiRequest,
  { status, body }: ApiAnswer,
  secrets: readonly string[],
): ApiError {
  const isPage = body.trimStart().startsWith('<');
  // Of `Bearer KEY` the key may appear alone.
  const words = secrets.flatMap((secret) => [secret, ...secret.split(' ').filter((word) => word.length >= 8)]);
  const text = status < 300 || isPage ? '' : excerpt(body, words);
  const own = `${method} ${path} of ${name}: ${statusText(status)}`;
  return new ApiError(failureOf(status), text === '' ? own : `${own}; it answers: ${text}`, status);
}

function failureOf(status: number): ApiFailure {
  if (status === 401 || status === 403) return 'denied';
  return status >= 500 ? 'server_error' : 'rejected';
}

function statusText(status: number): string {
  if (status === 401 || status === 403) return `status ${status}: it does not accept the credentials`;
  if (status >= 300 && status < 400)
    return `status ${status}: it redirects; configure the address that it redirects to`;
  return `status ${status}`;
}

/** An end that is not a fault of the connection. The message is our own. */
class CutShort extends Error {
  readonly failure: ApiFailure;

  constructor(failure: ApiFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

function baseOf({ url, name }: ApiServer): { readonly origin: string; readonly path: string } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new ApiError('local', `the address of ${name} is no http or https URL`);
  }
  return { origin: parsed.origin, path: parsed.pathname.replace(/\/+$/, '') };
}

type WholeRequest = ApiRequest & { readonly headers: Record<string, string> };

function exchange(client: Client, request: WholeRequest): Promise<Omit<ApiAnswer, 'sent'>> {
  const { method, path, headers, body } = request;
  const { promise, resolve, reject } = Promise.withResolvers<Omit<ApiAnswer, 'sent'>>();
  const decoder = new TextDecoder();
  let [status, bytes, text] = [0, 0, ''];
  client.dispatch(
    { method, path, headers, ...(body === undefined ? {} : { body }) },
    {
      // Undici takes an object without this method for a handler of an older kind.
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode) => void (status = statusCode),
      onResponseData(controller, chunk) {
        bytes += chunk.length;
        if (bytes > MAX_BODY_BYTES)
          controller.abort(new CutShort('invalid_answer', `the answer has more than ${MAX_BODY_BYTES} bytes`));
        else text += decoder.decode(chunk, { stream: true });
      },
      onResponseEnd: () => resolve({ status, body: text + decoder.decode() }),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  return promise;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'its name cannot be resolved now',
  EHOSTUNREACH: 'no way to the address',
  ENETUNREACH: 'no way to the address',
  ETIMEDOUT: 'connection timed out',
  ECONNRESET: 'connection closed before the answer was whole',
  EPIPE: 'connection closed before the answer was whole',
  UND_ERR_SOCKET: 'connection closed before the answer was whole',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection closed before the answer was whole',
};

/** These come before the request is written. */
const NO_CONNECTION = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$|SSL|TLS|CERT|SIGNATURE|EPROTO/;

interface End {
  readonly failure: ApiFailure;
  readonly why: string;
  readonly wasSent: boolean;
}

/** By the error's code alone: a library's message may have a part of the request. */
function cutShortBy(error: unknown): End {
  if (error instanceof CutShort) return { failure: error.failure, why: error.message, wasSent: true };
  const code = codeOf(error);
  if (/^(?:HPE_|UND_ERR_HEADERS)/.test(code))
    return { failure: 'invalid_answer', why: `not an HTTP answer (${code})`, wasSent: true };
  const known = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  const words = known ?? (/SSL|TLS|CERT|SIGNATURE|EPROTO/.test(code) ? 'TLS failed' : 'the request failed');
  const why = code === '' ? words : `${words} (${code})`;
  return { failure: code === 'ETIMEDOUT' ? 'timeout' : 'unreachable', why, wasSent: !NO_CONNECTION.test(code) };
}

/** Addresses of one name that all failed come as one error with several inside. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? shown(error.code) : '';
}

// One exchange with an API that gets a key. Follows no redirect: the key goes to the configured server alone. Errors
// have our own words, the path and the status, and may have the body of a refusal, without secrets. They never have a
// header, or the body of a success, which may hold passwords.
import { excerpt } from './excerpt.ts';
import { errorOf, type ExchangeFault } from './exchange-error.ts';
import { exchange } from './exchange.ts';

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
  readonly body?: string | Uint8Array;
  /** The body as a value. */
  readonly json?: unknown;
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
  /** The status of the answer, if there was one. */
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

/** Resolves with any answer, whatever its status. Rejects with an ApiError. */
export async function sendRequest(server: ApiServer, request: ApiRequest): Promise<ApiAnswer> {
  const { name, url, timeoutMs } = server;
  const sent = await server.headers();
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new ApiError('local', `the address of ${name} is no http or https URL`);
  }
  try {
    const answer = await exchange({
      ...request,
      url,
      path: base.pathname.replace(/\/+$/, '') + request.path,
      headers: { accept: 'application/json', 'user-agent': 'pointsman', ...sent },
      deadlineMs: timeoutMs,
    });
    return { ...answer, sent };
  } catch (error) {
    const { fault, message, isSent } = errorOf(error);
    const failure = request.signal?.aborted === true ? 'local' : (FAILURES[fault] ?? 'unreachable');
    throw new ApiError(failure, `${request.method} ${request.path} of ${name}: ${message}`, undefined, isSent);
  }
}

const FAILURES: Partial<Record<ExchangeFault, ApiFailure>> = {
  timeout: 'timeout',
  malformed: 'invalid_answer',
  oversized: 'invalid_answer',
};

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
  // The key of `Bearer KEY` may appear alone.
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

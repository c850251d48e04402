// One request to the platform. GET is repeated when a repetition may help. No other request is: the interface does not
// declare that a repetition is harmless.
import { readHeaderValue } from '../../http/secret-files.ts';
import { ApiError, sendRequest, statusError, type ApiRequest, type ApiServer } from '../../http/request.ts';
import type { Clock } from '../../model/instant.ts';
import { parseJson } from '../../model/json.ts';
import type { PlatformPolicy } from '../../config/schema/platform-section.ts';
import { betaHeaders, type Beta } from '../betas.ts';

export interface PlatformAccess {
  readonly policy: PlatformPolicy;
  /** For the pauses between two attempts. */
  readonly clock: Clock;
  /** A number below 1, so that many jobs of CI do not come back together. */
  readonly random: () => number;
  /** For one attempt. Milliseconds. */
  readonly timeoutMs?: number;
}

export interface PlatformRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** From `/v1` on. Its parts are encoded. */
  readonly path: string;
  readonly betas: readonly Beta[];
  readonly body?: { readonly type: string; readonly content: string | Uint8Array };
}

/** An upload of several megabytes over a slow line. Milliseconds. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** Only a GET is repeated. */
const MOST_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 500;
/** Statuses of 4xx that mean "later". */
const LATER: ReadonlySet<number | undefined> = new Set([408, 425, 429]);

/** The document of a successful answer; undefined: it is no JSON. Rejects with an ApiError. */
export async function send(access: PlatformAccess, request: PlatformRequest): Promise<unknown> {
  return parseJson(await sendUntilAnswered(access, request));
}

/** As `send`, with the text of the document. */
export async function sendForText(access: PlatformAccess, request: PlatformRequest): Promise<string | undefined> {
  const text = await sendUntilAnswered(access, request);
  return parseJson(text) === undefined ? undefined : text.trim();
}

async function sendUntilAnswered(access: PlatformAccess, request: PlatformRequest): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce(access, request);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (request.method !== 'GET') throw withDoubt(error);
      if (attempt >= MOST_ATTEMPTS || !mayPass(error)) throw error;
      const { promise, resolve } = Promise.withResolvers<void>();
      access.clock.schedule(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + 0.5 * access.random()), resolve);
      await promise;
    }
  }
}

async function sendOnce(access: PlatformAccess, { method, path, betas, body }: PlatformRequest): Promise<string> {
  const { policy, timeoutMs = DEFAULT_TIMEOUT_MS } = access;
  const key = await readHeaderValue(policy.apiKeyFile);
  const headers = {
    ...policy.headers,
    ...betaHeaders(policy.betaHeader, betas),
    ...(body === undefined ? {} : { 'content-type': body.type }),
    [policy.authHeader]: key,
  };
  const server: ApiServer = { name: 'the platform', url: policy.url, timeoutMs, headers: async () => headers };
  const request: ApiRequest = { method, path, ...(body === undefined ? {} : { body: body.content }) };
  const answer = await sendRequest(server, request);
  if (answer.status < 200 || answer.status >= 300) throw statusError(server, request, answer, [key]);
  return answer.body;
}

function mayPass({ failure, status }: ApiError): boolean {
  return failure === 'unreachable' || failure === 'timeout' || failure === 'server_error' || LATER.has(status);
}

/** A change without an answer, or with one of 5xx, may have happened. */
function withDoubt(error: ApiError): ApiError {
  const { failure, message, status, wasSent } = error;
  const isRefused = failure === 'denied' || failure === 'rejected';
  if (!wasSent || isRefused) return error;
  return new ApiError(
    failure,
    `${message}; the platform may have done it, so the request is not repeated`,
    status,
    true,
  );
}

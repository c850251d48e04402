// One request to the storage node or to the console, as both clients send it.
import type { z } from 'zod';
import { ApiError, sendRequest, statusError } from '../../http/request.ts';
import type { ApiAnswer, ApiRequest, ApiServer } from '../../http/request.ts';
import { parseJson } from '../../model/json.ts';

export interface ClientOptions {
  /** For one request. Milliseconds. */
  readonly timeoutMs?: number;
  /** Ends reads early. */
  readonly signal?: AbortSignal | undefined;
}

/** A list of many timelines takes a storage node a while. Milliseconds. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/** The document of a successful answer. Rejects with an ApiError. */
export async function get<T>(
  server: ApiServer,
  path: string,
  document: z.ZodType<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const request: ApiRequest = { method: 'GET', path, signal };
  const answer = await sendRequest(server, request);
  if (!isSuccess(answer.status)) throw refusal(server, request, answer);
  const parsed = await document.safeParseAsync(parseJson(answer.body));
  if (parsed.success) return parsed.data;
  const why = `GET ${path} of ${server.name}: the answer is not the document that belongs there`;
  throw new ApiError('invalid_answer', why, answer.status);
}

/** Sends a change once. `status`: undefined if no answer came. Rejects when a setting prevents the request. */
export async function changeOnce<T>(
  server: ApiServer,
  request: ApiRequest,
  outcomeOf: (status: number | undefined, why: string, wasSent: boolean) => T,
): Promise<T> {
  try {
    const answer = await sendRequest(server, request);
    return outcomeOf(answer.status, refusal(server, request, answer).message, true);
  } catch (error) {
    const isOver = !(error instanceof ApiError) || error.failure === 'local';
    if (isOver) throw error;
    return outcomeOf(undefined, error.message, error.wasSent);
  }
}

/** Everything in our own headers may be a secret. A shorter value is no secret, and would mask words. Characters. */
const SHORTEST_SECRET = 4;

/** The answer's failure, with its reason. */
export function refusal(server: ApiServer, request: ApiRequest, answer: ApiAnswer): ApiError {
  const { 'content-type': _, ...headers } = answer.sent;
  const secrets = Object.values(headers).filter((value) => value.length >= SHORTEST_SECRET);
  return statusError(server, request, answer, secrets);
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

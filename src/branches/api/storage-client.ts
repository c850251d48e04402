// The management API of a storage node: tenants and their timelines. A branch is a timeline with an ancestor.
// Source: the storage-node management API, "Endpoints" and "Errors".
import { parseJson } from '../../model/json.ts';
import type { NamedTimeline } from '../names-file.ts';
import { z } from 'zod';
import { entriesOf, optional, optionalLsn, required } from './fields.ts';
import { ApiError, sendRequest, statusError } from '../../http/request.ts';
import type { ApiAnswer, ApiRequest, ApiServer } from '../../http/request.ts';
import { readHeaders } from '../../http/secret-files.ts';

export interface StorageAccess {
  /** The address before `/v1`: `http://pageserver:9898`. */
  readonly url: string;
  readonly tenant: string;
  /** The contract does not show how the API authenticates: headers for every request, from this file. */
  readonly headersFile?: string | undefined;
}

export interface Timeline {
  /** 16 bytes as hex. */
  readonly id: string;
  /** Undefined: a root timeline. */
  readonly ancestorId: string | undefined;
  /** Where it left its ancestor, `<hex>/<hex>`. */
  readonly ancestorLsn: string | undefined;
  readonly lastRecordLsn: string | undefined;
}

export interface TimelineRequest extends Pick<NamedTimeline, 'ancestorId' | 'pgVersion'> {
  /** 32 hex characters, chosen by the caller. */
  readonly id: string;
  /** Undefined: the parent's position at that moment. A repetition may then mean another position. */
  readonly lsn?: string | undefined;
}

export type TimelineCreation =
  /** 201: it exists with these arguments, and it lasts. */
  | { readonly kind: 'durable' }
  /** 409: it exists with other arguments. Some servers answer so as well while they create it. */
  | { readonly kind: 'conflict'; readonly why: string }
  /** 406: this request cannot succeed, however often it is sent. */
  | { readonly kind: 'impossible'; readonly why: string }
  /** The server refuses the request for a reason that a repetition does not change. */
  | { readonly kind: 'refused'; readonly why: string }
  /** No answer, or one that decides nothing: the same request has to be sent again. */
  | { readonly kind: 'unclear'; readonly why: string };

/** Every method rejects with an ApiError. */
export interface StorageClient {
  tenants(): Promise<readonly string[]>;
  timelines(): Promise<readonly Timeline[]>;
  /** Undefined: the tenant has no such timeline (404). */
  timeline(id: string): Promise<Timeline | undefined>;
  /** Sends the request once. Rejects when a setting prevents it. `limitMs`: for this request alone. */
  createTimeline(request: TimelineRequest, limitMs?: number): Promise<TimelineCreation>;
  /** Rejects for every answer but 2xx. `accepted`: 202, it may be listed for a while. */
  deleteTimeline(id: string): Promise<'deleted' | 'accepted'>;
}

export interface ClientOptions {
  /** For one request. Milliseconds. */
  readonly timeoutMs?: number;
  /** Ends reads early. */
  readonly signal?: AbortSignal | undefined;
}

/** A list of many timelines takes a storage node a while. Milliseconds. */
export const DEFAULT_TIMEOUT_MS = 10_000;

export function createStorageClient(access: StorageAccess, options: ClientOptions = {}): StorageClient {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  const { headersFile } = access;
  const server: ApiServer = {
    name: 'the storage node',
    url: access.url,
    timeoutMs,
    headers: async () => (headersFile === undefined ? {} : await readHeaders(headersFile)),
  };
  const timelinesPath = `/v1/tenant/${encodeURIComponent(access.tenant)}/timeline`;
  const pathOf = (id: string): string => `${timelinesPath}/${encodeURIComponent(id)}`;

  const get = async <T>(path: string, document: z.ZodType<T>): Promise<T> => {
    const request: ApiRequest = { method: 'GET', path, signal };
    return read(server, request, await sendRequest(server, request), document);
  };

  const timelines = async (): Promise<readonly Timeline[]> => {
    try {
      return await get(timelinesPath, entriesOf(timeline));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      const isUnknown = await tenants().then(
        (known) => !known.includes(access.tenant),
        () => false,
      );
      throw isUnknown ? new ApiError('rejected', `${error.message}: it has no such tenant`, 404) : error;
    }
  };
  const tenants = (): Promise<readonly string[]> => get('/v1/tenant', z.array(tenant));

  return {
    tenants,
    timelines,
    async timeline(id) {
      try {
        return await get(pathOf(id), timeline);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async createTimeline(wanted, limitMs = timeoutMs) {
      // The path of the creation ends with a slash, the path of the list does not.
      const request: ApiRequest = { method: 'POST', path: `${timelinesPath}/`, json: bodyOf(wanted) };
      try {
        const answer = await sendRequest({ ...server, timeoutMs: limitMs }, request);
        return creationOf(answer.status, refusal(server, request, answer).message);
      } catch (error) {
        const isOver = !(error instanceof ApiError) || error.failure === 'local';
        if (isOver) throw error;
        return { kind: 'unclear', why: error.message };
      }
    },
    async deleteTimeline(id) {
      const request: ApiRequest = { method: 'DELETE', path: pathOf(id) };
      const answer = await sendRequest(server, request);
      if (!isSuccess(answer.status)) throw refusal(server, request, answer);
      return answer.status === 202 ? 'accepted' : 'deleted';
    },
  };
}

const tenant = z.object({ id: required }).transform(({ id }) => id);

const timeline = z
  .object({
    timeline_id: required,
    ancestor_timeline_id: optional,
    ancestor_lsn: optionalLsn,
    last_record_lsn: optionalLsn,
  })
  .transform((fields): Timeline => ({
    id: fields.timeline_id,
    ancestorId: fields.ancestor_timeline_id,
    ancestorLsn: fields.ancestor_lsn,
    lastRecordLsn: fields.last_record_lsn,
  }));

/** The document of a successful answer. Throws an ApiError. */
export async function read<T>(
  server: ApiServer,
  request: ApiRequest,
  answer: ApiAnswer,
  document: z.ZodType<T>,
): Promise<T> {
  const { status, body } = answer;
  if (!isSuccess(status)) throw refusal(server, request, answer);
  const parsed = await document.safeParseAsync(parseJson(body));
  if (parsed.success) return parsed.data;
  const what = `${request.method} ${request.path} of ${server.name}`;
  throw new ApiError('invalid_answer', `${what}: the answer is not the document that belongs there`, status);
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

/** The same bytes for the same request. */
function bodyOf({ id, ancestorId, lsn, pgVersion }: TimelineRequest): object {
  return {
    new_timeline_id: id,
    ancestor_timeline_id: ancestorId,
    ...(lsn === undefined ? {} : { ancestor_start_lsn: lsn }),
    pg_version: pgVersion,
  };
}

/** Statuses of 4xx that mean "later". */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);

function creationOf(status: number, why: string): TimelineCreation {
  if (status === 201) return { kind: 'durable' };
  if (status === 409) return { kind: 'conflict', why };
  if (status === 406) return { kind: 'impossible', why };
  // The contract knows no success but 201: another one is no promise that the timeline lasts.
  if (isSuccess(status) || status >= 500 || LATER.has(status)) return { kind: 'unclear', why };
  return { kind: 'refused', why };
}

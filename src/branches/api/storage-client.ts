// The management API of a storage node: tenants and their timelines. A branch is a timeline with an ancestor.
// Source: the storage-node management API, "Endpoints" and "Errors".
import type { Branch, StoragePolicy } from '../../model/branch.ts';
import type { NamedTimeline } from '../names-file.ts';
import { z } from 'zod';
import { changeOnce, DEFAULT_TIMEOUT_MS, get, isSuccess, refusal, type ClientOptions } from './branch-api.ts';
import { entriesOf, optional, optionalLsn, required } from './fields.ts';
import { ApiError, sendRequest, type ApiRequest, type ApiServer } from '../../http/request.ts';
import { readHeaders } from '../../http/secret-files.ts';

/** The contract does not show how the API authenticates: the file has headers for every request. */
type StorageAccess = Pick<StoragePolicy, 'url' | 'tenant'> & Partial<Pick<StoragePolicy, 'headersFile'>>;

/** A branch without a name. The id is 16 bytes as hex. */
export type Timeline = Omit<Branch, 'name' | 'hasReadEndpoint'>;

/** The caller chooses the id. */
export type TimelineRequest = Pick<NamedTimeline, 'id' | 'parentId' | 'parentLsn' | 'pgVersion'>;

export type TimelineCreation =
  /** 201: it exists with these arguments, and it lasts. */
  | { readonly kind: 'durable' }
  /**
   * `conflict`, 409: it exists with other arguments; some servers answer so as well while they create it. `impossible`,
   * 406: this request cannot succeed, however often it is sent. `refused`: for a reason that a repetition does not
   * change. `unclear`: no answer, or one that decides nothing: the same request has to be sent again.
   */
  | { readonly kind: 'conflict' | 'impossible' | 'refused' | 'unclear'; readonly why: string };

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

  const timelines = async (): Promise<readonly Timeline[]> => {
    try {
      return await get(server, timelinesPath, entriesOf(timeline), signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      const isUnknown = await tenants().then(
        (known) => !known.includes(access.tenant),
        () => false,
      );
      throw isUnknown ? new ApiError('rejected', `${error.message}: it has no such tenant`, 404) : error;
    }
  };
  const tenants = (): Promise<readonly string[]> => get(server, '/v1/tenant', z.array(tenant), signal);

  return {
    tenants,
    timelines,
    async timeline(id) {
      try {
        return await get(server, pathOf(id), timeline, signal);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    createTimeline(wanted, limitMs = timeoutMs) {
      // The path of the creation ends with a slash, the path of the list does not.
      const request: ApiRequest = { method: 'POST', path: `${timelinesPath}/`, json: bodyOf(wanted) };
      return changeOnce({ ...server, timeoutMs: limitMs }, request, creationOf);
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
    parentId: fields.ancestor_timeline_id,
    // A root may report a position where it left nothing.
    parentLsn: fields.ancestor_timeline_id && fields.ancestor_lsn,
    lastRecordLsn: fields.last_record_lsn,
  }));

/** The same bytes for the same request. */
function bodyOf({ id, parentId, parentLsn, pgVersion }: TimelineRequest): object {
  return { new_timeline_id: id, ancestor_timeline_id: parentId, ancestor_start_lsn: parentLsn, pg_version: pgVersion };
}

/** Statuses of 4xx that mean "later". */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);

function creationOf(status: number | undefined, why: string): TimelineCreation {
  if (status === undefined) return { kind: 'unclear', why };
  if (status === 201) return { kind: 'durable' };
  if (status === 409) return { kind: 'conflict', why };
  if (status === 406) return { kind: 'impossible', why };
  // The contract knows no success but 201: another one is no promise that the timeline lasts.
  if (isSuccess(status) || status >= 500 || LATER.has(status)) return { kind: 'unclear', why };
  return { kind: 'refused', why };
}

// Reads the documents of the management API: /cluster, /history, /config and the node status. For discovery and for
// display, never for liveness: /cluster reads the configuration store and may hang as long as the store does.
import type { ApiEndpoint } from '../model/member.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { readClusterDocument } from './cluster-document.ts';
import type { ClusterDocument } from './cluster-document.ts';
import { readDynamicConfig } from './dynamic-config.ts';
import type { DynamicConfig } from './dynamic-config.ts';
import type { ReadFailure } from './failure.ts';
import { parseJson } from './fields.ts';
import { readHistory } from './history.ts';
import type { TimelineEnd } from './history.ts';
import { get } from './http.ts';
import type { Request } from './http.ts';
import { readNodeStatus } from './node-status.ts';
import type { Dialect } from './node-status.ts';
import type { TlsSource } from './tls-files.ts';

export interface ReaderOptions {
  readonly tls?: TlsSource | undefined;
  /** Decides the path of the node status. Default: patroni. */
  readonly dialect?: Dialect;
}

export type ClusterRead = { readonly kind: 'cluster'; readonly cluster: ClusterDocument } | ReadFailure;
export type HistoryRead =
  | { readonly kind: 'history'; readonly entries: readonly TimelineEnd[]; readonly skipped: number }
  | ReadFailure;
export type ConfigRead = { readonly kind: 'config'; readonly config: DynamicConfig } | ReadFailure;
export type StatusRead = { readonly kind: 'status'; readonly status: MemberStatus } | ReadFailure;

/** Each reads one document within `deadlineMs`, in all. None rejects. */
export interface DocumentReader {
  readonly readCluster: (api: ApiEndpoint, deadlineMs: number) => Promise<ClusterRead>;
  readonly readHistory: (api: ApiEndpoint, deadlineMs: number) => Promise<HistoryRead>;
  readonly readConfig: (api: ApiEndpoint, deadlineMs: number) => Promise<ConfigRead>;
  readonly readNodeStatus: (api: ApiEndpoint, deadlineMs: number) => Promise<StatusRead>;
}

const OK = [200];
/** Real Patroni answers a path it does not know, and a health check that says no, with 503 and the status document. */
const OK_OR_NO = [200, 503];
const PATHS: Readonly<Record<Dialect, string>> = { patroni: '/patroni', manager: '/manager' };

export function createReader(options: ReaderOptions = {}): DocumentReader {
  const { tls, dialect = 'patroni' } = options;
  return {
    async readCluster(api, deadlineMs) {
      const answer = await readJson({ api, path: '/cluster', deadlineMs, tls }, OK);
      if (answer.kind !== 'json') return answer;
      const parsed = readClusterDocument(answer.json);
      return parsed.kind === 'invalid' ? malformed('/cluster', parsed.why) : parsed;
    },
    async readHistory(api, deadlineMs) {
      const answer = await readJson({ api, path: '/history', deadlineMs, tls }, OK);
      if (answer.kind !== 'json') return answer;
      const parsed = readHistory(answer.json);
      return parsed.kind === 'invalid' ? malformed('/history', parsed.why) : parsed;
    },
    async readConfig(api, deadlineMs) {
      const answer = await readJson({ api, path: '/config', deadlineMs, tls }, OK);
      if (answer.kind !== 'json') return answer;
      const parsed = readDynamicConfig(answer.json);
      return parsed.kind === 'invalid' ? malformed('/config', parsed.why) : parsed;
    },
    readNodeStatus: (api, deadlineMs) => readStatus({ api, path: PATHS[dialect], deadlineMs, tls }),
  };
}

async function readStatus(request: Request): Promise<StatusRead> {
  const answer = await readJson(request, OK_OR_NO);
  if (answer.kind !== 'json') return answer;
  const parsed = readNodeStatus(answer.json);
  if (parsed.kind === 'invalid') return malformed(request.path, parsed.why);
  // An object without either key may be any server's error page.
  const { dialect } = parsed.status;
  return dialect === undefined ? malformed(request.path, 'no patroni or manager key') : parsed;
}

type Json = { readonly kind: 'json'; readonly json: unknown };

async function readJson(request: Request, statuses: readonly number[]): Promise<Json | ReadFailure> {
  const result = await get(request);
  if (result.kind !== 'answered') return result;
  const { status, body } = result;
  if (statuses.includes(status)) return { kind: 'json', json: parseJson(body) };
  const cause = status >= 300 && status < 400 ? 'redirect' : 'unexpected_status';
  return { kind: 'failed', cause, detail: `${request.path} answered status ${status}` };
}

function malformed(path: string, why: string): ReadFailure {
  return { kind: 'failed', cause: 'malformed', detail: `${path}: ${why}` };
}

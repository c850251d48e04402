// Reads the documents of the management API: /cluster, /history, /config and the node status. For discovery and for
// display, never for liveness: /cluster reads the configuration store and may hang as long as the store does.
import { isRecord, parseJson } from '../model/json.ts';
import type { ApiEndpoint } from '../model/member.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { createSend, statusText, type ApiAccess, type Send } from './access.ts';
import { readClusterDocument, type ClusterDocument } from './cluster-document.ts';
import { readDynamicConfig, type DynamicConfig } from './dynamic-config.ts';
import type { ReadFailure } from './failure.ts';
import { readHistory, type TimelineEnd } from './history.ts';
import { readRestartState, type RestartState } from './restart-state.ts';
import { parseNodeStatus, readNodeStatus, type Dialect } from './node-status.ts';

export interface ReaderOptions extends ApiAccess {
  /** Decides the path of the node status. Default: patroni. */
  readonly dialect?: Dialect;
}

export type ClusterRead = { readonly kind: 'cluster'; readonly cluster: ClusterDocument } | ReadFailure;
export type HistoryRead =
  | { readonly kind: 'history'; readonly entries: readonly TimelineEnd[]; readonly skipped: number }
  | ReadFailure;
export type ConfigRead = { readonly kind: 'config'; readonly config: DynamicConfig } | ReadFailure;
export type StatusRead = { readonly kind: 'status'; readonly status: MemberStatus } | ReadFailure;
export type OwnReportRead = { readonly kind: 'own_report'; readonly report: OwnReport } | ReadFailure;
export type MetricsRead = { readonly kind: 'metrics'; readonly text: string } | ReadFailure;

/** Each reads one document within `deadlineMs`, in all. None rejects. */
export interface DocumentReader {
  readonly readCluster: (api: ApiEndpoint, deadlineMs: number) => Promise<ClusterRead>;
  readonly readHistory: (api: ApiEndpoint, deadlineMs: number) => Promise<HistoryRead>;
  readonly readConfig: (api: ApiEndpoint, deadlineMs: number) => Promise<ConfigRead>;
  readonly readNodeStatus: (api: ApiEndpoint, deadlineMs: number) => Promise<StatusRead>;
  /** In the text exposition format of Prometheus. */
  readonly readMetrics: (api: ApiEndpoint, deadlineMs: number) => Promise<MetricsRead>;
  /** From the member itself: the cluster document has the same later. In both dialects. */
  readonly readOwnReport: (api: ApiEndpoint, deadlineMs: number) => Promise<OwnReportRead>;
}

export interface OwnReport {
  /** Empty if no field of it can be read. */
  readonly status: MemberStatus;
  readonly restart: RestartState;
}

const OK = [200];
/** Real Patroni answers a path it does not know, and a health check that says no, with 503 and the status document. */
const OK_OR_NO = [200, 503];
/** The body of a health check is the node status document in both dialects. */
const ANY_DIALECT = '/health';
const PATHS: Readonly<Record<Dialect, string>> = { patroni: '/patroni', manager: '/manager' };

export function createReader(options: ReaderOptions = {}): DocumentReader {
  const { dialect = 'patroni' } = options;
  const read = createTextReader(options);
  return {
    async readCluster(api, deadlineMs) {
      const answer = await read({ api, path: '/cluster', deadlineMs }, OK);
      if (answer.kind !== 'text') return answer;
      const parsed = readClusterDocument(parseJson(answer.text));
      return parsed.kind === 'invalid' ? malformed('/cluster', parsed.why) : parsed;
    },
    async readHistory(api, deadlineMs) {
      const answer = await read({ api, path: '/history', deadlineMs }, OK);
      if (answer.kind !== 'text') return answer;
      const parsed = readHistory(parseJson(answer.text));
      return parsed.kind === 'invalid' ? malformed('/history', parsed.why) : parsed;
    },
    async readConfig(api, deadlineMs) {
      const answer = await read({ api, path: '/config', deadlineMs }, OK);
      if (answer.kind !== 'text') return answer;
      const parsed = readDynamicConfig(parseJson(answer.text));
      return parsed.kind === 'invalid' ? malformed('/config', parsed.why) : parsed;
    },
    async readNodeStatus(api, deadlineMs) {
      const path = PATHS[dialect];
      const answer = await read({ api, path, deadlineMs }, OK_OR_NO);
      if (answer.kind !== 'text') return answer;
      const parsed = parseNodeStatus(answer.text);
      if (parsed.kind === 'invalid') return malformed(path, parsed.why);
      // An object without either key may be any server's error page.
      return parsed.status.dialect === undefined ? malformed(path, 'no patroni or manager key') : parsed;
    },
    async readMetrics(api, deadlineMs) {
      const answer = await read({ api, path: '/metrics', deadlineMs }, OK);
      return answer.kind === 'text' ? { kind: 'metrics', text: answer.text } : answer;
    },
    async readOwnReport(api, deadlineMs) {
      const answer = await read({ api, path: ANY_DIALECT, deadlineMs }, OK_OR_NO);
      if (answer.kind !== 'text') return answer;
      const json = parseJson(answer.text);
      if (!isRecord(json)) return malformed(ANY_DIALECT, 'not a JSON object');
      const parsed = readNodeStatus(json);
      const status = parsed.kind === 'status' ? parsed.status : {};
      return { kind: 'own_report', report: { status, restart: readRestartState(json) } };
    },
  };
}

type Text = { readonly kind: 'text'; readonly text: string };
type DocumentRequest = Parameters<Send>[0];

function createTextReader(access: ApiAccess) {
  const send = createSend(access);
  return async (question: DocumentRequest, statuses: readonly number[]): Promise<Text | ReadFailure> => {
    const result = await send(question);
    if (result.kind !== 'answered') return result;
    const { status, body } = result;
    if (statuses.includes(status)) return { kind: 'text', text: body };
    const cause = status >= 300 && status < 400 ? 'redirect' : 'unexpected_status';
    return { kind: 'failed', cause, detail: `${question.path} answered ${statusText(status, access)}` };
  };
}

function malformed(path: string, why: string): ReadFailure {
  return { kind: 'failed', cause: 'malformed', detail: `${path}: ${why}` };
}

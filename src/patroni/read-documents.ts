// Reads the documents of the management API: /cluster, /history, /config and the node status. For discovery and for
// display, never for liveness: /cluster reads the configuration store and may hang as long as the store does.
import { isRecord, parseJson } from '../model/json.ts';
import type { ApiEndpoint } from '../model/member.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { createSend, statusText, type ApiAccess } from './access.ts';
import { readClusterDocument, type ParsedClusterDocument } from './cluster-document.ts';
import type { ReadFailure } from './failure.ts';
import { readHistory, type ParsedHistory } from './history.ts';
import { readRestartState, type RestartState } from './restart-state.ts';
import { readNodeStatus, type Dialect, type ParsedNodeStatus } from './node-status.ts';

export interface ReaderOptions extends ApiAccess {
  /** Decides the path of the node status. Default: patroni. */
  readonly dialect?: Dialect;
}

/** Reads within `deadlineMs`, in all. Never rejects. */
type DocumentRead<Document> = (api: ApiEndpoint, deadlineMs: number) => Promise<Document | ReadFailure>;

export interface DocumentReader {
  readonly readCluster: DocumentRead<Valid<ParsedClusterDocument> & WithDate>;
  readonly readHistory: DocumentRead<Valid<ParsedHistory>>;
  readonly readConfig: DocumentRead<Valid<ParsedDynamicConfig>>;
  readonly readNodeStatus: DocumentRead<Valid<ParsedNodeStatus>>;
  /** From the member itself: the cluster document has the same later. In both dialects. */
  readonly readOwnReport: DocumentRead<Valid<ParsedOwnReport>>;
}

export type ClusterRead = Awaited<ReturnType<DocumentReader['readCluster']>>;
type Valid<Parsed> = Exclude<Parsed, Invalid>;
/** `date`: the member's clock when it answered, in whole seconds. Milliseconds since the epoch. */
interface WithDate {
  readonly date?: number;
}
/** The dynamic configuration as it came, unchecked. */
type ParsedDynamicConfig = { readonly kind: 'config'; readonly config: Readonly<Record<string, unknown>> } | Invalid;
type ParsedOwnReport = { readonly kind: 'own_report'; readonly report: OwnReport } | Invalid;

export interface OwnReport {
  /** Empty if no field of it can be read. */
  readonly status: MemberStatus;
  readonly restart: RestartState;
}

const OK = [200];
/** Real Patroni answers a path it does not know, and a health check that says no, with 503 and the status document. */
const OK_OR_NO = [200, 503];
const PATHS: Readonly<Record<Dialect, string>> = { patroni: '/patroni', manager: '/manager' };

export function createReader({ dialect = 'patroni', ...access }: ReaderOptions = {}): DocumentReader {
  const send = createSend(access);
  const reading =
    <Document extends { readonly kind: string }>(
      path: string,
      parse: (json: unknown, date?: number) => Document | Invalid,
      statuses = OK,
    ): DocumentRead<Document> =>
    async (api, deadlineMs) => {
      const answer = await send({ api, path, deadlineMs });
      if (answer.kind !== 'answered') return answer;
      const { status, body, date } = answer;
      if (!statuses.includes(status)) {
        const cause = status >= 300 && status < 400 ? 'redirect' : 'unexpected_status';
        return { kind: 'failed', cause, detail: `${path} answered ${statusText(status, access)}` };
      }
      const parsed = parse(parseJson(body), date);
      return isInvalid(parsed) ? { kind: 'failed', cause: 'malformed', detail: `${path}: ${parsed.why}` } : parsed;
    };
  return {
    readCluster: reading('/cluster', (json, date) => {
      const parsed = readClusterDocument(json);
      return parsed.kind === 'cluster' && date !== undefined ? { ...parsed, date } : parsed;
    }),
    readHistory: reading('/history', readHistory),
    readConfig: reading('/config', readConfig),
    readNodeStatus: reading(PATHS[dialect], readOwnDocument, OK_OR_NO),
    // The body of a health check is the node status document in both dialects.
    readOwnReport: reading('/health', readOwnReport, OK_OR_NO),
  };
}

interface Invalid {
  readonly kind: 'invalid';
  readonly why: string;
}

function isInvalid(parsed: { readonly kind: string }): parsed is Invalid {
  return parsed.kind === 'invalid';
}

function readConfig(json: unknown): ParsedDynamicConfig {
  return isRecord(json) ? { kind: 'config', config: json } : NO_OBJECT;
}

function readOwnDocument(json: unknown): ParsedNodeStatus {
  const parsed = readNodeStatus(json);
  // An object without either key may be any server's error page.
  const isOther = parsed.kind === 'status' && parsed.status.dialect === undefined;
  return isOther ? { kind: 'invalid', why: 'no patroni or manager key' } : parsed;
}

function readOwnReport(json: unknown): ParsedOwnReport {
  if (!isRecord(json)) return NO_OBJECT;
  const parsed = readNodeStatus(json);
  const status = parsed.kind === 'status' ? parsed.status : {};
  return { kind: 'own_report', report: { status, restart: readRestartState(json) } };
}

const NO_OBJECT: Invalid = { kind: 'invalid', why: 'not a JSON object' };

// The operator's view of the cluster, and the operations on it: the write half of the management API. A command of
// `pointsman cluster` uses one of two implementations: the members' own APIs, or a running Pointsman's admin API.
// Its documents are those of the admin API.
import type { MemberName } from '../model/member.ts';
import type {
  ClusterConfiguration,
  ClusterReport,
  HistoryEntry,
  OperationResult,
  PlannedRequest,
} from '../documents/cluster-documents.ts';
import type { WriteOperation } from '../patroni/write-requests.ts';

/** `why`: one sentence for the operator. */
export type ControlReading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The operator's own knowledge of parameters whose values no member reports (Patroni before 3.3). */
export type GivenOrder = 'primary_first' | 'standbys_first';

type RestartOperation = Extract<WriteOperation, { kind: 'restart' }>;
type MemberOperation = Extract<WriteOperation, { kind: 'cancel_restart' | 'reload' | 'reinitialize' }>;

/** One request to the management API: that of `member`, or of the leader. */
export type ClusterOperation =
  | Exclude<WriteOperation, RestartOperation | MemberOperation>
  | (MemberOperation & { readonly member: MemberName })
  /** `any_order`: also when the members must restart in another order. Neither it nor `order` is sent. */
  | (RestartOperation & { readonly member: MemberName; readonly order?: GivenOrder; readonly any_order?: true });

/** None of these rejects. */
export interface ClusterControl {
  /** Where the answers come from, for the operator: `http://10.0.0.11:8008` or `the Pointsman at 127.0.0.1:8432`. */
  readonly source: () => string;
  readonly report: () => Promise<ControlReading<ClusterReport>>;
  readonly history: () => Promise<ControlReading<readonly HistoryEntry[]>>;
  readonly config: () => Promise<ControlReading<ClusterConfiguration>>;
  /** The request that `perform` would send now. It may read the members; it changes nothing. */
  readonly plan: (operation: ClusterOperation) => Promise<ControlReading<PlannedRequest>>;
  readonly perform: (operation: ClusterOperation) => Promise<OperationResult>;
}

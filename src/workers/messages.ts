// The messages between the main process and its workers: plain data on an ordered channel. Both ends are the same
// program, which `build` in the first message proves, so nothing is parsed.
import type { AuthorityReading } from '../model/authority.ts';
import type { BranchAccess, BranchLookup } from '../model/branch.ts';
import type { CertificateStatus, ClientCounts, PoolCounts } from '../reports/counts.ts';
import type { ProxyEvent } from '../reports/events.ts';
import type { Trigger } from '../reports/trigger.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName, RoutingPolicy } from '../model/policy.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { MoveResult } from '../reports/session-move.ts';
import type { Tally } from '../reports/tally.ts';
import type { ProxyPolicy } from '../proxy/options.ts';
import type { CancelOutcome } from '../proxy/peers.ts';
import type { SnapshotDelta } from './snapshot-delta.ts';

/** The part of the configuration that a worker needs. Holds no secret. */
export type WorkerPolicy = ProxyPolicy & RoutingPolicy;

export type ToWorker =
  /** The first message. The worker's session ids are above `lastId`. */
  | {
      readonly kind: 'begin';
      /** The program's manifest. A worker with another manifest (files replaced meanwhile) refuses to start. */
      readonly build: string;
      readonly processes: number;
      readonly lastId: number;
      readonly policy: WorkerPolicy;
      readonly snapshot: Snapshot;
      readonly others: Tally;
    }
  | { readonly kind: 'snapshot'; readonly delta: SnapshotDelta }
  /** Has only the addresses whose number changed. */
  | { readonly kind: 'others'; readonly tally: Tally }
  /** The reply is `prepared`. Then `apply` or `abandon` follows. */
  | { readonly kind: 'prepare'; readonly policy: WorkerPolicy }
  | { readonly kind: 'apply' | 'abandon' }
  /** The reply is `done`, once it is carried out. */
  | { readonly kind: 'do'; readonly id: number; readonly order: WorkerOrder }
  /**
   * Another worker has a cancel request whose key it does not know. The reply is `cancel_found`; no member is
   * contacted.
   */
  | { readonly kind: 'find_cancel'; readonly id: number; readonly packet: Uint8Array }
  /** To the worker that has the session. The reply is `cancel_taken`, once the request is forwarded or has failed. */
  | { readonly kind: 'take_cancel'; readonly id: number; readonly packet: Uint8Array; readonly pool: PoolName }
  /** The reply is `session_list`. */
  | { readonly kind: 'list_sessions'; readonly id: number; readonly query: SessionQuery }
  /** The reply is `session_killed`. */
  | { readonly kind: 'kill_session'; readonly id: number; readonly session: number }
  /** The reply is `session_moved`, within the limits of `moves`. */
  | { readonly kind: 'move_session'; readonly id: number; readonly session: number }
  /** The reply is `preflight_done`, which takes some seconds. */
  | { readonly kind: 'preflight'; readonly id: number; readonly member: MemberName }
  | { readonly kind: 'close' }
  | ToWorkerReply;

/** `report`: report now. The other three are the methods of Proxy: stopAccepting, whenEmpty, drain. */
export type WorkerOrder =
  | { readonly what: 'report' | 'stop_accepting' }
  | { readonly what: 'become_empty' | 'drain'; readonly limitMs: number };

/** The reply to the worker's request of that id. */
export type ToWorkerReply =
  /** A snapshot with the new evidence was sent before. */
  | { readonly kind: 'fresh'; readonly id: number }
  | { readonly kind: 'key_pair'; readonly id: number; readonly reading: KeyPairReading }
  | { readonly kind: 'authorities'; readonly id: number; readonly reading: AuthorityReading }
  | { readonly kind: 'cancel_passed'; readonly id: number; readonly outcome: CancelOutcome }
  | { readonly kind: 'branch_located'; readonly id: number; readonly lookup: BranchLookup };

/** With the time when it happened, because a report comes later. */
export interface TimedEvent {
  readonly event: ProxyEvent;
  readonly at: Instant;
}

/**
 * A worker's current numbers, and its events since the last report. One message, so that counts and events always
 * agree.
 */
export interface Report {
  readonly events: readonly TimedEvent[];
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
  readonly clients: ClientCounts;
  /** Has only the addresses whose number changed. */
  readonly tally: Tally;
  readonly certificate: CertificateStatus | undefined;
  readonly usage: Usage;
}

/** Resource usage of one process. */
export interface Usage {
  /** User and system time since the start of the process. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export type FromWorker =
  /** `problem`: why it cannot accept clients; undefined when it accepts them. */
  | { readonly kind: 'begun'; readonly problem: string | undefined }
  | { readonly kind: 'prepared'; readonly problem: string | undefined }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'done'; readonly id: number }
  /** The last message. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'trigger'; readonly trigger: Trigger }
  | { readonly kind: 'cancel_found'; readonly id: number; readonly isFound: boolean }
  | { readonly kind: 'cancel_taken'; readonly id: number; readonly problem: string | undefined }
  | { readonly kind: 'session_list'; readonly id: number; readonly list: SessionList }
  | { readonly kind: 'session_killed'; readonly id: number; readonly result: KillResult }
  | { readonly kind: 'session_moved'; readonly id: number; readonly result: MoveResult }
  | { readonly kind: 'preflight_done'; readonly id: number; readonly preflight: Preflight | undefined }
  | WorkerRequest;

export type WorkerRequest =
  /** `since`: only probes that begin after it count. */
  | { readonly kind: 'freshen'; readonly id: number; readonly pool: PoolName; readonly since: Instant | undefined }
  | { readonly kind: 'read_key_pair'; readonly id: number; readonly files: KeyPairFiles }
  | { readonly kind: 'read_authorities'; readonly id: number; readonly file: string }
  | { readonly kind: 'pass_cancel'; readonly id: number; readonly packet: Uint8Array; readonly pool: PoolName }
  | { readonly kind: 'locate_branch'; readonly id: number; readonly target: string; readonly access: BranchAccess };

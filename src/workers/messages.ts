// The messages between the main process and its workers: plain data on an ordered channel. Both ends are the same
// program, which `build` in the first message proves, so nothing is parsed.
import type { PemKind, PemReading } from '../model/pem.ts';
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
import type { MoveRequest, MoveResult } from '../reports/session-move.ts';
import type { Tally } from '../reports/tally.ts';
import type { ProxyPolicy } from '../proxy/options.ts';
import type { CancelOutcome } from '../proxy/siblings.ts';
import type { CallKind, CallMessage, ReplyMessage } from './calls.ts';
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
  | { readonly kind: 'close' }
  | CallMessage<CallsOfMain>
  | ReplyMessage;

/** `report`: report now. The other three are the methods of Proxy: stopAccepting, whenEmpty, drain. */
export type WorkerOrder =
  | { readonly what: 'report' | 'stop_accepting' }
  | { readonly what: 'become_empty' | 'drain'; readonly limitMs: number };

/** From the main process to a worker. */
export interface CallsOfMain {
  /** Its reply comes once it is carried out. */
  readonly do: CallKind<WorkerOrder, undefined>;
  /** Another worker has a cancel request whose key it does not know. No member is contacted. */
  readonly find_cancel: CallKind<Uint8Array, boolean>;
  /** To the worker that has the session. Its reply, the problem, comes once the request is forwarded or has failed. */
  readonly take_cancel: CallKind<CancelPacket, string | undefined>;
  /** The reply is undefined if the worker has ended. */
  readonly list_sessions: CallKind<SessionQuery, SessionList | undefined>;
  readonly kill_session: CallKind<number, KillResult>;
  /** Its reply comes within the limits of `moves`. */
  readonly move_session: CallKind<MoveRequest, MoveResult>;
  /** Its reply takes some seconds. It is undefined if the worker has ended. */
  readonly preflight: CallKind<MemberName, Preflight | undefined>;
}

/** From a worker to the main process. */
export interface CallsOfWorker {
  /** A snapshot with the new evidence is sent before the reply. `since`: only probes that begin after it count. */
  readonly freshen: CallKind<{ readonly pool: PoolName; readonly since: Instant | undefined }, undefined>;
  readonly read_key_pair: CallKind<KeyPairFiles, KeyPairReading>;
  readonly read_pem: CallKind<{ readonly file: string; readonly kind: PemKind }, PemReading>;
  readonly pass_cancel: CallKind<CancelPacket, CancelOutcome>;
  /** Whether another worker has the session. */
  readonly find_cancel: CallKind<Uint8Array, boolean>;
  readonly locate_branch: CallKind<{ readonly target: string; readonly access: BranchAccess }, BranchLookup>;
}

export interface CancelPacket {
  readonly packet: Uint8Array;
  readonly pool: PoolName;
}

/** With the time when it happened, because a report comes later. */
export interface TimedEvent {
  readonly event: ProxyEvent;
  readonly at: Instant;
}

/**
 * A worker's current numbers, and its events since the last report. One message, so that counts and events always
 * agree.
 */
export interface WorkerReport {
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
  | { readonly kind: 'report'; readonly report: WorkerReport }
  /** The last message. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'trigger'; readonly trigger: Trigger }
  | CallMessage<CallsOfWorker>
  | ReplyMessage;

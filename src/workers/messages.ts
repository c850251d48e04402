// What the main process and its workers say to each other: plain data on a channel that keeps the order. Both ends are the same
// program, so nothing is parsed; `build` in the first word says that they are.
import type { PoolCounts } from '../reports/counts.ts';
import type { ProxyEvent, Smell } from '../reports/events.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName, RoutingPolicy } from '../model/policy.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Tally } from '../reports/tally.ts';
import type { ProxyPolicy } from '../proxy/options.ts';
import type { CancelOutcome } from '../proxy/peers.ts';
import type { CertificateStatus } from '../proxy/startup/tls-certificate.ts';
import type { SnapshotDelta } from './snapshot-delta.ts';

/** All that a worker needs of the configuration: nothing of it is secret. */
export type WorkerPolicy = ProxyPolicy & RoutingPolicy;

export type ToWorker =
  /** The first word. `lastId`: session ids are counted from behind it. */
  | {
      readonly kind: 'begin';
      /** The program's manifest: one whose files were replaced meanwhile does not begin. */
      readonly build: string;
      readonly processes: number;
      readonly lastId: number;
      readonly policy: WorkerPolicy;
      readonly snapshot: Snapshot;
      readonly others: Tally;
    }
  | { readonly kind: 'snapshot'; readonly delta: SnapshotDelta }
  /** Of the addresses those whose number has changed. */
  | { readonly kind: 'others'; readonly tally: Tally }
  /** Answered by `prepared`; then one of the two follows. */
  | { readonly kind: 'prepare'; readonly policy: WorkerPolicy }
  | { readonly kind: 'apply' | 'abandon' }
  /** Answered by `done`, when it is. */
  | { readonly kind: 'do'; readonly id: number; readonly order: Order }
  /**
   * Another worker has a request whose key it does not know. Answered by `cancel_found`; nothing is sent to a member.
   */
  | { readonly kind: 'find_cancel'; readonly id: number; readonly packet: Uint8Array }
  /** To the worker that has its session. Answered by `cancel_taken`, when it is over. */
  | { readonly kind: 'take_cancel'; readonly id: number; readonly packet: Uint8Array; readonly pool: PoolName }
  | { readonly kind: 'close' }
  | ToWorkerAnswer;

/** `tell`: report now. The others as the proxy's own: stopAccepting, emptied, drain. */
export type Order =
  | { readonly what: 'tell' | 'stop_accepting' }
  | { readonly what: 'become_empty' | 'drain'; readonly limitMs: number };

/** To a worker's question of that id. */
export type ToWorkerAnswer =
  /** What the question brought was sent before. */
  | { readonly kind: 'fresh'; readonly id: number }
  | { readonly kind: 'key_pair'; readonly id: number; readonly reading: KeyPairReading }
  | { readonly kind: 'cancel_passed'; readonly id: number; readonly outcome: CancelOutcome };

/** What a worker has and did since its last report: one message, so that its counts and its events always fit each other. */
export interface Report {
  readonly events: readonly ProxyEvent[];
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
  /** Of the addresses those whose number has changed. */
  readonly tally: Tally;
  readonly certificate: CertificateStatus | undefined;
  readonly usage: Usage;
}

/** Of one process. */
export interface Usage {
  /** Since its start, user and system. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export type FromWorker =
  /** It accepts clients, or why it cannot. */
  | { readonly kind: 'begun'; readonly problem: string | undefined }
  | { readonly kind: 'prepared'; readonly problem: string | undefined }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'done'; readonly id: number }
  /** The last word. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'smell'; readonly smell: Smell }
  | { readonly kind: 'cancel_found'; readonly id: number; readonly isFound: boolean }
  | { readonly kind: 'cancel_taken'; readonly id: number; readonly problem: string | undefined }
  | WorkerQuestion;

export type WorkerQuestion =
  /** `since`: the members are to be asked after it. */
  | { readonly kind: 'freshen'; readonly id: number; readonly pool: PoolName; readonly since: Instant | undefined }
  | { readonly kind: 'read_key_pair'; readonly id: number; readonly files: KeyPairFiles }
  | { readonly kind: 'pass_cancel'; readonly id: number; readonly packet: Uint8Array; readonly pool: PoolName };

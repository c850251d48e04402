// A cluster as the contract suite needs it: its words, its members, and ways to bring a state about. Verbs return when
// their effect can be seen, except where they say otherwise.
import type { Tags } from '../patroni/documents.ts';
import type { MemberAddress } from '../patroni/member.ts';
import type { Row } from '../patroni/sql.ts';

export type TargetName = 'sandbox' | 'sandbox (patroni dialect)' | 'Patroni';

export interface ContractTarget {
  readonly name: TargetName;
  /** The version of a Patroni: its known differences depend on it. */
  readonly version?: string;
  readonly scope: string;
  /** The endpoint of the node status document, its key for version and scope, and the prefix of metrics. */
  readonly statusPath: '/manager' | '/patroni';
  readonly documentKey: 'manager' | 'patroni';
  readonly metricsPrefix: 'manager' | 'patroni';
  members(): readonly MemberAddress[];
  /** As superuser on that member itself. */
  sql(member: MemberAddress, text: string): Promise<Row[]>;
  /** Changes the member's own configuration; takes effect with POST /reload. */
  configureTags(name: string, tags: Tags): Promise<void>;
  /** As if its host died. */
  kill(name: string): Promise<void>;
  /** The heartbeat loop hangs, while the API still answers requests that need no SQL. */
  stallHeartbeat(name: string): Promise<void>;
  /** The replica receives WAL and does not replay it. */
  pauseReplay(name: string): Promise<void>;
  resumeReplay(name: string): Promise<void>;
  /** Undoes `kill` and `stallHeartbeat`; returns when the member is part of the cluster again. */
  heal(name: string): Promise<void>;
  setStoreOutage(isDown: boolean): Promise<void>;
  /** One primary, every other member streams from it, and the cluster document shows the same. */
  waitUntilHealthy(): Promise<void>;
  describeState(): Promise<string>;
  destroy(): Promise<void>;
}

// What the proxy is given: policies as plain data, the routing table through a function, and its seams.
import type { ProxyEvent, Trigger } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type {
  BackendPolicy,
  ClientPolicy,
  HoldPolicy,
  ListenerPolicy,
  PoolName,
  PoolPolicy,
  RelayMode,
} from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Dial } from './connect/dial.ts';
import type { InheritedSocket } from './accept/listeners.ts';
import type { Peers } from './peers.ts';
import type { DescriptorBudget } from './accept/descriptor-limit.ts';

/** What a reload may change. It counts for what begins after. */
export interface ProxyPolicy {
  readonly pools: readonly PoolPolicy[];
  readonly listeners: readonly ListenerPolicy[];
  readonly client: ClientPolicy;
  readonly backend: BackendPolicy;
  readonly hold: HoldPolicy;
  readonly relay: RelayMode;
}

/** What stays for the life of the proxy. */
export interface ProxyDependencies {
  /** As it was last decided. A pure read. */
  readonly table: () => RoutingTable;
  /** Decides now if the table is no longer valid. May call tableChanged(), and so end sessions. */
  readonly decideIfDue: () => void;
  /**
   * Undefined: the evidence of an exclusive pool's member is fresh. Else resolves when it was asked for again. Never
   * rejects. `since`: the members must be asked after that instant.
   */
  readonly freshen: (pool: PoolName, since?: Instant) => Promise<void> | undefined;
  readonly onTrigger: (trigger: Trigger) => void;
  readonly onEvent: (event: ProxyEvent) => void;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly dial?: Dial;
  /** Absent: nobody else serves these ports. */
  readonly peers?: Peers;
  /** What this process has file descriptors for. Absent: enough. */
  readonly descriptors?: DescriptorBudget | undefined;
  /** Listening sockets that this process was started with. */
  readonly inherited?: readonly InheritedSocket[] | undefined;
}

export type ProxyOptions = ProxyPolicy & ProxyDependencies;

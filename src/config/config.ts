// The configuration as the program uses it: one frozen value of plain data. It is composed of the policies in model/,
// so that each part of the program gets only its own piece (`Config` itself is a RoutingPolicy).
import type { BranchesPolicy } from '../model/branch.ts';
import type { QuestionsPolicy } from '../model/causal-reads.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { Address } from '../model/member.ts';
import type { LoginsPolicy } from '../model/logins.ts';
import type { MovesPolicy } from '../model/moves.ts';
import type { PlatformPolicy } from './schema/platform-section.ts';
import type {
  BackendPolicy,
  ClientPolicy,
  HoldPolicy,
  ListenerPolicy,
  RelayMode,
  RoutingPolicy,
  ShutdownPolicy,
  SwitchoverPolicy,
} from '../model/policy.ts';
import type { CompleteFile } from './schema/defaults.ts';
import type { Origins } from './source/origins.ts';
import type { AccessLog, LogFormat, LogLevel } from './schema/log-options.ts';

/** Operations need a token, from one of the two. It is read when it is needed (files/admin-token.ts). */
export interface AdminConfig {
  readonly address: Address;
  /** Names that requests may use beside addresses and private names; `*`: any. */
  readonly allowedHosts: readonly string[];
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  /** Where the console in the PostgreSQL protocol listens. Undefined: it is off. */
  readonly console: Address | undefined;
}

export interface IncidentsConfig {
  /** Undefined: in memory only. */
  readonly directory: string | undefined;
  readonly maxBytes: number;
  readonly keep: number;
}

export interface Config extends RoutingPolicy {
  readonly cluster: ClusterConfig;
  readonly listeners: readonly ListenerPolicy[];
  readonly client: ClientPolicy;
  readonly backend: BackendPolicy;
  /** Undefined: targets are pools alone. */
  readonly branches?: BranchesPolicy | undefined;
  /** Undefined: no session moves, and nothing is kept for that. */
  readonly moves?: MovesPolicy | undefined;
  /** Undefined: no verifier is asked for at a login. */
  readonly logins?: LoginsPolicy | undefined;
  /** Undefined: no server is asked for its positions. */
  readonly questions?: QuestionsPolicy | undefined;
  readonly relay: RelayMode;
  readonly hold: HoldPolicy & SwitchoverPolicy;
  /** `pointsman switchover` is one of every Pointsman of the cluster. */
  readonly fleet: boolean;
  /** Other Pointsmen behind the same address, which are offered cancel requests with unknown keys. */
  readonly cancelPeers: readonly Address[];
  /** Processes that serve clients; 1: this one. `auto`: one for each processor that may be used. */
  readonly workers: number | 'auto';
  readonly shutdown: ShutdownPolicy;
  readonly admin: AdminConfig;
  readonly incidents: IncidentsConfig;
  /** For commands alone. Undefined: they report which keys to set. */
  readonly platform?: PlatformPolicy | undefined;
  readonly log: { readonly level: LogLevel; readonly format: LogFormat; readonly access: AccessLog };
  /** The same by the names of the file: what a reload compares (changes.ts). */
  readonly file: CompleteFile;
  /** Where the values of `file` were written. */
  readonly origins: Origins;
}

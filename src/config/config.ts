// The configuration as the program uses it: one frozen value of plain data, read once. It composes the policies of
// model/policy.ts, so that each part of the program can be given its own piece (and `config` itself is a RoutingPolicy).
import type { Address, ApiEndpoint, MemberName } from '../model/member.ts';
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

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** A member that the operator named: never dropped because a /cluster document omits it. */
export interface ConfiguredMember {
  readonly name: MemberName;
  /** `address.host` is as written: not resolved yet. */
  readonly api: ApiEndpoint;
  readonly postgres: Address | undefined;
}

/** What may be contacted beyond the trust rules of guarantees.md. */
export interface AllowRules {
  /** CIDR ranges or single addresses, as written: `10.20.0.0/16`. */
  readonly networks: readonly string[];
  /** Exact host names, in lower case. */
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
}

/** Files in PEM; read by whoever connects, not here. */
export interface ApiTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** True: certificates of members are not verified. */
  readonly insecure: boolean;
}

/** SRV records name the APIs. */
export interface SrvSeed {
  /** As written: `http+srv://_patroni._tcp.example.org`. */
  readonly url: string;
  readonly scheme: 'http' | 'https';
  /** The name that has the records. */
  readonly srv: string;
}

/** Of an API `address.host` is as written: a name may have several addresses, each of them is a contact point. */
export type Seed = ApiEndpoint | SrvSeed;

/** Where Kubernetes knows members' APIs to be. */
export interface KubernetesConfig {
  /** Undefined: that of the service account. */
  readonly namespace: string | undefined;
  /** The Service whose endpoints count; undefined: pods by `labels`. */
  readonly service: string | undefined;
  /** `application=patroni,cluster-name=batman` */
  readonly labels: string;
  readonly roleLabel: string;
  /** Of the management API, or the name of the pod's or Service's port. */
  readonly port: number | string;
  readonly scheme: 'http' | 'https';
  /** `https://10.96.0.1:443`; undefined: neither given nor in a pod. */
  readonly server: string | undefined;
  /** A folder as a service account is mounted. */
  readonly credentials: string;
}

export interface ClusterConfig {
  /** Undefined: pinned from the first answers. */
  readonly scope: string | undefined;
  readonly discovery: 'dynamic' | 'static';
  /** Where to start from. */
  readonly seeds: readonly Seed[];
  readonly kubernetes: KubernetesConfig | undefined;
  readonly members: readonly ConfiguredMember[];
  readonly allow: AllowRules;
  readonly api: {
    /** Undefined: the defaults of Node for https. */
    readonly tls: ApiTls | undefined;
  };
}

/** Operations need a token, from one of the two. It is read when it is needed (admin-token.ts). */
export interface AdminConfig {
  readonly address: Address;
  /** Beside addresses and private names; `*`: any. */
  readonly allowedHosts: readonly string[];
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
}

export interface Config extends RoutingPolicy {
  readonly cluster: ClusterConfig;
  readonly listeners: readonly ListenerPolicy[];
  readonly client: ClientPolicy;
  readonly backend: BackendPolicy;
  readonly relay: RelayMode;
  readonly hold: HoldPolicy & SwitchoverPolicy;
  /** Processes that serve clients; 1: this one. `auto`: one for each processor that it may use. */
  readonly workers: number | 'auto';
  readonly shutdown: ShutdownPolicy;
  readonly admin: AdminConfig;
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
}

// The operator's settings about the cluster: where its members are found, and which addresses may be contacted. config/
// makes them. discovery/, kubernetes/ and patroni/ get the part that they need.
import type { Instant } from './instant.ts';
import type { Address, ApiEndpoint, MemberName } from './member.ts';

/** A member that the operator named: never dropped because `GET /cluster` omits it. */
export interface ConfiguredMember {
  readonly name: MemberName;
  /** `address.host` is as written: discovery resolves it. */
  readonly api: ApiEndpoint;
  /** As written, a name is fine; overrides the address that `GET /cluster` reports. */
  readonly postgres?: Address | undefined;
}

/** Addresses that may be contacted in addition to those that follow from the seeds (guarantees.md, trust). */
export interface AllowRules {
  /** CIDR ranges or single addresses, as written: `10.20.0.0/16`. */
  readonly networks: readonly string[];
  /** Exact host names, in lower case. */
  readonly hosts: readonly string[];
  /** For the API and for PostgreSQL. */
  readonly ports: readonly number[];
}

/** PEM files; the HTTP client reads them. */
export interface ApiTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** True: certificates of members are not verified. */
  readonly insecure?: boolean;
}

/** Basic authentication. The HTTP client reads the file. */
export interface ApiAuth {
  readonly username: string;
  readonly password: string | undefined;
  readonly passwordFile: string | undefined;
}

/** SRV records that name the APIs. */
export interface SrvSeed {
  /** As written: `http+srv://_patroni._tcp.example.org`. */
  readonly url: string;
  readonly scheme: 'http' | 'https';
  /** The name that has the records. */
  readonly srv: string;
}

/** The host of an API is as written. Each address of a name is a contact point. */
export type Seed = ApiEndpoint | SrvSeed;

/** A name or a directory with its contact points: the current ones, or those of its last answer. */
export interface ContactSource {
  /** As the operator wrote it, or a readable name of the directory. */
  readonly name: string;
  readonly contactPoints: readonly Address[];
  /** Present while lookups fail. `since` is undefined when no lookup ever succeeded. */
  readonly failing: { readonly why: string; readonly since: Instant | undefined } | undefined;
}

/** The APIs that a directory such as Kubernetes lists. */
export interface EndpointList extends Omit<ContactSource, 'contactPoints'> {
  readonly endpoints: readonly ApiEndpoint[];
}

/** Where Kubernetes has the members' APIs. */
export interface KubernetesConfig {
  /** Undefined: the namespace of the service account. */
  readonly namespace?: string | undefined;
  /** The Service whose endpoints count; undefined: pods by `labels`. */
  readonly service?: string | undefined;
  /** As `kubectl -l` takes it: `application=patroni,cluster-name=batman`. */
  readonly labels: string;
  readonly roleLabel: string;
  /** The port of the management API, or its name in the pod or Service. */
  readonly port: number | string;
  readonly scheme: 'http' | 'https';
  /** `https://10.96.0.1:443`; undefined: neither written nor in a pod. */
  readonly server?: string | undefined;
  /** A folder as a service account is mounted. */
  readonly credentials: string;
}

/** The settings for discovery. */
export interface DiscoveryConfig {
  /** Documents of another scope are ignored. Undefined: the first document's scope counts. */
  readonly scope?: string | undefined;
  /** `dynamic`: every member that `GET /cluster` lists; `static`: only those whose API is a seed, and `members`. */
  readonly discovery: 'dynamic' | 'static';
  /** Contact points to start from. They are no members until a document names them. */
  readonly seeds: readonly Seed[];
  readonly members: readonly ConfiguredMember[];
  readonly allow: AllowRules;
}

export interface ClusterConfig extends DiscoveryConfig {
  readonly kubernetes: KubernetesConfig | undefined;
  /** Without `tls`: Node's defaults for https. Without `auth`: no credentials. */
  readonly api: { readonly tls: ApiTls | undefined; readonly auth: ApiAuth | undefined };
}

// The cluster section of the configuration, as discovery needs it. config/ makes it.
import type { Address, ApiEndpoint, MemberName } from '../model/member.ts';
import type { Allow } from './addresses.ts';

export interface ConfiguredMember {
  readonly name: MemberName;
  /** Discovery uses only the URL and resolves the host itself. */
  readonly api: ApiEndpoint;
  /** As written, may be a name. Overrides the cluster document. */
  readonly postgres?: Address | undefined;
}

/** SRV records name the APIs: `http+srv://_patroni._tcp.example.org`. */
export interface SrvSeed {
  /** As written. */
  readonly url: string;
  readonly scheme: 'http' | 'https';
  /** The name that has the records. */
  readonly srv: string;
}

/** Of an API endpoint only the URL counts. Each address of its name is a contact point. */
export type Seed = ApiEndpoint | SrvSeed;

export interface ClusterConfig {
  /** Documents of another scope are ignored. Absent: the first document sets the scope. */
  readonly scope?: string | undefined;
  /** `dynamic`: every member of the document; `static`: only those whose API is a seed or whose name is configured. */
  readonly discovery: 'dynamic' | 'static';
  /** Contact points to start from. A seed is no member until a document names it. */
  readonly seeds: readonly Seed[];
  readonly members: readonly ConfiguredMember[];
  readonly allow: Allow;
}

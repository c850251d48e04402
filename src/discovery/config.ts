// What the operator said about the cluster, as discovery needs it: plain data that config/ makes.
import type { Address, ApiEndpoint, MemberName } from '../model/member.ts';
import type { Allow } from './addresses.ts';

export interface ConfiguredMember {
  readonly name: MemberName;
  /** Only its URL counts: discovery resolves the host itself. */
  readonly api: ApiEndpoint;
  /** As written, a name is fine; overrides what the cluster document says. */
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

/** Of an API only the URL counts. Each address of its name is a contact point. */
export type Seed = ApiEndpoint | SrvSeed;

export interface ClusterConfig {
  /** Documents of another scope are ignored; absent: the first document's scope counts. */
  readonly scope?: string | undefined;
  /** `cluster`: every member of the document; `static`: only those whose API is a seed or whose name is configured. */
  readonly discovery: 'dynamic' | 'static';
  /** Where to start from: contact points, and no members until a document names them. */
  readonly seeds: readonly Seed[];
  readonly members: readonly ConfiguredMember[];
  readonly allow: Allow;
}

// What the operator said about the cluster, as discovery needs it: plain data that config/ makes.
import type { Address, ApiEndpoint, MemberName } from '../core/member.ts';
import type { Allow } from './addresses.ts';

export interface ConfiguredMember {
  readonly name: MemberName;
  /** Only its URL counts: discovery resolves the host itself. */
  readonly api: ApiEndpoint;
  /** As written, a name is fine; overrides what the cluster document says. */
  readonly postgres?: Address | undefined;
}

export interface ClusterConfig {
  /** Documents of another scope are ignored; absent: the first document's scope counts. */
  readonly scope?: string | undefined;
  /** `cluster`: every member of the document; `static`: only those whose API is a seed or whose name is configured. */
  readonly discovery: 'cluster' | 'static';
  /** APIs to start from: contact points, and no members until a document names them. Only their URLs count. */
  readonly seeds: readonly ApiEndpoint[];
  readonly members: readonly ConfiguredMember[];
  readonly allow: Allow;
}

// The members of the cluster and their addresses. discovery/ has resolved and allowed the addresses. The core only
// compares them.

/** The member's name in the cluster (`name` in /cluster), and the key of everything that is kept about it. */
export type MemberName = string;

/** A TCP address that passed the trust rules. */
export interface Address {
  /** An IP address. A host name only when the operator configured it and it could not be resolved yet. */
  readonly host: string;
  readonly port: number;
  /** Further addresses of the same server, which are tried after `host`. They do not tell it from another one. */
  readonly others?: readonly string[];
}

/** The base of a member's management API. The socket goes to `address`. `url` keeps the name for Host and TLS. */
export interface ApiEndpoint {
  /** Scheme, host and port, without a trailing slash: `http://pg1:8008`. */
  readonly url: string;
  readonly address: Address;
}

export interface Member {
  readonly name: MemberName;
  readonly api: ApiEndpoint;
  /** Undefined until the configuration or a /cluster document gives it. */
  readonly postgres: Address | undefined;
  /** A configured member stays when a /cluster document omits it. */
  readonly origin: 'configured' | 'discovered';
}

/** Why a listed member is not used, or only in part. A closed list: it is a metric's label. */
export const REFUSAL_REASONS = [
  'api_port',
  'postgres_port',
  'address',
  // No setting can allow it.
  'forbidden_address',
  'unresolved',
  'unreadable',
  'duplicate',
  'too_many',
  // Neither a seed nor configured, with static discovery.
  'not_configured',
  // A seed, or an address that its name or directory gave. It is not a member.
  'contact_point',
] as const;

export type MemberRefusalReason = (typeof REFUSAL_REASONS)[number];

export interface Objection {
  readonly reason: MemberRefusalReason;
  /** One sentence for the operator, with the setting that would allow the member, if there is one. */
  readonly why: string;
  /** The entries of `cluster.allow` that would remove the objection. Absent: no setting can. */
  readonly remedy?: Remedy;
}

/** Names or addresses of hosts, and ports. */
export interface Remedy {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
}

export interface MemberRefusal extends Objection {
  /** The member's name, its position in the list, or a contact point. */
  readonly name: MemberName;
}

export function addressOf(host: string, port: number, others: readonly string[]): Address {
  return others.length === 0 ? { host, port } : { host, port, others };
}

/** `10.0.0.1:5432`, `[::1]:5432` */
export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export function isSameAddress(a: Address | undefined, b: Address | undefined): boolean {
  return a?.host === b?.host && a?.port === b?.port;
}

/** Evidence belongs to addresses: another address is another server until it has answered for itself. */
export function isSameServer(a: Member | undefined, b: Member | undefined): boolean {
  return isSameAddress(a?.api.address, b?.api.address) && isSameAddress(a?.postgres, b?.postgres);
}

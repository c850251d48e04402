// Who the members of the cluster are and where they can be reached. Addresses here are already resolved and allowed
// (discovery/ does both); the core only compares them.

/** The member's name as the cluster knows it (`name` in /cluster); the key of everything kept about it. */
export type MemberName = string;

/** A TCP address that was checked before it got here. */
export interface Address {
  /** An IP address, or a host name only where the operator configured it and it could not be resolved yet. */
  readonly host: string;
  readonly port: number;
}

/** Base of a member's management API. The socket goes to `address`; `url` keeps the name for Host and TLS. */
export interface ApiEndpoint {
  /** Scheme, host and port, without a trailing slash: `http://pg1:8008`. */
  readonly url: string;
  readonly address: Address;
}

export interface Member {
  readonly name: MemberName;
  readonly api: ApiEndpoint;
  /** Absent until the configuration or a /cluster document has given it. */
  readonly postgres: Address | undefined;
  /** A configured member is never dropped because a /cluster document omits it. */
  readonly origin: 'configured' | 'discovered';
}

/** Why a member that a /cluster document lists is not used, or only in part. A closed list: it is a metric's label. */
export const REFUSAL_REASONS = [
  'api_port',
  'postgres_port',
  'address',
  // No setting allows it.
  'forbidden_address',
  'unresolved',
  'unreadable',
  'duplicate',
  'too_many',
  // Neither a seed nor configured, with static discovery.
  'not_configured',
  // No member: a seed, or what its name or directory gave.
  'contact_point',
] as const;

export type MemberRefusalReason = (typeof REFUSAL_REASONS)[number];

export interface Objection {
  readonly reason: MemberRefusalReason;
  /** One sentence for the operator; names the setting that would allow it, where there is one. */
  readonly why: string;
}

export interface MemberRefusal extends Objection {
  /** The member's name, its place in the list, or a contact point. */
  readonly name: MemberName;
}

/** `10.0.0.1:5432`, `[::1]:5432` */
export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export function isSameAddress(a: Address | undefined, b: Address | undefined): boolean {
  return a?.host === b?.host && a?.port === b?.port;
}

/** Evidence belongs to addresses: another address is another server until it has spoken for itself. */
export function isSameServer(a: Member | undefined, b: Member | undefined): boolean {
  return isSameAddress(a?.api.address, b?.api.address) && isSameAddress(a?.postgres, b?.postgres);
}

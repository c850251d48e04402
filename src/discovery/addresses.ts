// The trust rules for addresses (guarantees.md: trust): the hosts and ports that a cluster document may name. Pure:
// judges resolved addresses. Some addresses are refused even when the operator names them.
import { BlockList, isIP } from 'node:net';
import type { AllowRules } from '../model/cluster-config.ts';
import type { Objection } from '../model/member.ts';

/** A destination that the operator named: a seed's API, or a configured member's API or PostgreSQL. */
export interface ContactPoint {
  readonly use: Use;
  readonly host: string;
  readonly port: number;
  /** The resolved addresses. Empty while the name could not be resolved. */
  readonly addresses: readonly string[];
}

export type Use = 'api' | 'postgres';

const USE_TEXT: Readonly<Record<Use, string>> = { api: 'API', postgres: 'PostgreSQL' };

export interface Destination {
  readonly use: Use;
  /** As the document spells it. */
  readonly host: string;
  readonly port: number;
}

export interface TrustRules {
  /** Undefined when `address` may be contacted for `destination`. */
  refusal(destination: Destination, address: string): Objection | undefined;
}

const POSTGRES_PORT = 5432;
/** Lower ports belong to services that most hosts have. */
export const FIRST_FREE_PORT = 1024;
const WEB_PORTS: readonly number[] = [80, 443];

function networks(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) addNetwork(list, cidr);
  return list;
}

/** Never contacted: addresses that hand out credentials, that are not one host, or that identify no host. */
const NEVER: readonly (readonly [string, BlockList])[] = [
  ['a metadata address', networks(['169.254.169.254', 'fd00:ec2::254', '100.100.100.200'])],
  ['a link-local address', networks(['169.254.0.0/16', 'fe80::/10'])],
  ['an unspecified address', networks(['0.0.0.0/8', '::'])],
  ['a multicast or broadcast address', networks(['224.0.0.0/4', 'ff00::/8', '255.255.255.255'])],
];
const LOOPBACK = networks(['127.0.0.0/8', '::1']);
/** RFC 1918 and RFC 4193. */
const PRIVATE = networks(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);

/** Adds `10.0.0.0/8` or a single address; false when it is neither. */
export function addNetwork(list: BlockList, cidr: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const version = isIP(network);
  const bits = prefix === undefined ? (version === 4 ? 32 : 128) : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
  if (version === 0 || network.includes('%') || bits > (version === 4 ? 32 : 128)) return false;
  list.addSubnet(network, bits, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}

/**
 * One spelling per address: lower case, no brackets, and IPv4 for an IPv4-mapped IPv6 address, which is the same host.
 * Undefined for text that is no address, and for an address with a zone, which differs from machine to machine.
 */
export function normalizeAddress(text: string): string | undefined {
  const address = text.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return undefined;
  if (version === 4) return address;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return canonical;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** Why the address is never contacted, whatever its origin; undefined when it may be. */
export function neverContacted(address: string): string | undefined {
  const normal = normalizeAddress(address);
  if (normal === undefined) return 'not an IP address';
  const found = NEVER.find(([, list]) => isIn(list, normal));
  return found === undefined ? undefined : `${normal} is ${found[0]}`;
}

/**
 * Why a contact point from a directory (SRV records, Kubernetes) is refused; undefined when it may be contacted. A
 * loopback address belongs to no other host, and a low port belongs to another service, unless the operator allows
 * them.
 */
export function learnedRefusal(
  { host, port }: Pick<Destination, 'host' | 'port'>,
  allow: AllowRules,
): string | undefined {
  const never = neverContacted(host);
  if (never !== undefined) return never;
  const normal = normalizeAddress(host) ?? host;
  if (isIn(LOOPBACK, normal) && !isIn(networks(allow.networks), normal)) {
    return `${normal} is a loopback address (cluster.allow.networks)`;
  }
  const isKnownPort = port >= FIRST_FREE_PORT || WEB_PORTS.includes(port) || allow.ports.includes(port);
  return isKnownPort ? undefined : `api port ${port} is below ${FIRST_FREE_PORT} (cluster.allow.ports)`;
}

/** `ownPorts`: the PostgreSQL ports that seeds report for themselves. */
export function createTrustRules(
  points: readonly ContactPoint[],
  allow: AllowRules,
  ownPorts: readonly number[] = [],
): TrustRules {
  const addresses = points.flatMap((point) => point.addresses);
  const named = new Set([...points.map((point) => point.host), ...addresses, ...allow.hosts].map(hostKey));
  const allowed = networks(allow.networks);
  const seesLoopback = addresses.some((address) => isIn(LOOPBACK, address));
  const seesPrivate = addresses.some((address) => isIn(PRIVATE, address));
  const ports: Readonly<Record<Use, ReadonlySet<number>>> = {
    api: new Set([...portsOf(points, 'api'), ...allow.ports]),
    postgres: new Set([POSTGRES_PORT, ...portsOf(points, 'postgres'), ...ownPorts, ...allow.ports]),
  };

  function isAllowed(host: string, address: string): boolean {
    if (named.has(hostKey(host)) || named.has(address) || isIn(allowed, address)) return true;
    return (seesLoopback && isIn(LOOPBACK, address)) || (seesPrivate && isIn(PRIVATE, address));
  }

  return {
    refusal({ use, host, port }, address) {
      const never = neverContacted(address);
      if (never !== undefined) {
        return { reason: 'forbidden_address', why: `${never}: no setting allows contact with it` };
      }
      if (!ports[use].has(port)) {
        const why = `${USE_TEXT[use]} port ${port} is not allowed: add ${port} to cluster.allow.ports to allow it`;
        return { reason: `${use}_port`, why, remedy: { hosts: [], ports: [port] } };
      }
      const normal = normalizeAddress(address) ?? address;
      if (isAllowed(host, normal)) return undefined;
      return {
        reason: 'address',
        why: `${normal} is not allowed: add it to cluster.allow.networks, or its host name to cluster.allow.hosts`,
        remedy: { hosts: [normalizeAddress(host) ?? host], ports: [] },
      };
    },
  };
}

function portsOf(points: readonly ContactPoint[], use: Use): readonly number[] {
  return points.filter((point) => point.use === use).map((point) => point.port);
}

function hostKey(host: string): string {
  return normalizeAddress(host) ?? host.toLowerCase().replace(/\.$/, '');
}

// The trust rules for addresses (guarantees.md: trust): the hosts and ports that a cluster document may name. Pure:
// judges resolved addresses.
import type { AllowRules } from '../model/cluster-config.ts';
import type { Objection } from '../model/member.ts';
import { isIn, networks, neverContacted, normalizeAddress } from './never-contacted.ts';

export type Use = 'api' | 'postgres';

const USE_TEXT: Readonly<Record<Use, string>> = { api: 'API', postgres: 'PostgreSQL' };

export interface Destination {
  readonly use: Use;
  /** As the document, or the operator, spells it. */
  readonly host: string;
  readonly port: number;
}

/** A destination that the operator named: a seed's API, or a configured member's API or PostgreSQL. */
export interface ContactPoint extends Destination {
  /** The resolved addresses. Empty while the name could not be resolved. */
  readonly addresses: readonly string[];
}

/** Undefined when `address` may be contacted for `destination`. */
export type TrustRules = (destination: Destination, address: string) => Objection | undefined;

const POSTGRES_PORT = 5432;
/** Lower ports belong to services that most hosts have. */
export const FIRST_FREE_PORT = 1024;
const WEB_PORTS: readonly number[] = [80, 443];

const LOOPBACK = networks(['127.0.0.0/8', '::1']);
/** RFC 1918 and RFC 4193. */
const PRIVATE = networks(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);

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

  return ({ use, host, port }, address) => {
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
  };
}

function portsOf(points: readonly ContactPoint[], use: Use): readonly number[] {
  return points.filter((point) => point.use === use).map((point) => point.port);
}

function hostKey(host: string): string {
  return normalizeAddress(host) ?? host.toLowerCase().replace(/\.$/, '');
}

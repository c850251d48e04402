// Addresses that are never contacted, even when the operator names them (guarantees.md: trust).
import { BlockList, isIP } from 'node:net';
import { errorCode } from '../model/errno.ts';
import { canonicalIpv6 } from '../model/ipv6.ts';

/** Takes `10.0.0.0/8` and single addresses, and leaves out what is neither. */
export function networks(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', prefix] = cidr.split('/');
    const [family, most] = network.includes(':') ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
    // No zone, and no NUL, where the check would end.
    if (/[^\da-f:.]/i.test(network) || bits > most) continue;
    try {
      // It checks the address itself. `isIP` would cost 5 ms of each start, for its regular expression of IPv6.
      list.addSubnet(network, bits, family);
    } catch (error) {
      if (errorCode(error) !== 'ERR_INVALID_ADDRESS') throw error;
    }
  }
  return list;
}

/** Never contacted: addresses that hand out credentials, that are not one host, or that identify no host. */
const NEVER: readonly (readonly [string, BlockList])[] = [
  ['a metadata address', networks(['169.254.169.254', 'fd00:ec2::254', '100.100.100.200'])],
  ['a link-local address', networks(['169.254.0.0/16', 'fe80::/10'])],
  ['an unspecified address', networks(['0.0.0.0/8', '::'])],
  ['a multicast or broadcast address', networks(['224.0.0.0/4', 'ff00::/8', '255.255.255.255'])],
];

/**
 * One spelling per address: lower case, no brackets, and IPv4 for an IPv4-mapped IPv6 address, which is the same host.
 * Undefined for text that is no address, and for an address with a zone, which differs from machine to machine.
 */
export function normalizeAddress(text: string): string | undefined {
  const address = text.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return undefined;
  return version === 4 ? address : canonicalIpv6(address);
}

export function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** Why the address is never contacted, whatever its origin; undefined when it may be. */
export function neverContacted(address: string): string | undefined {
  const normal = normalizeAddress(address);
  if (normal === undefined) return 'not an IP address';
  const kind = forbiddenKind(normal);
  return kind === undefined ? undefined : `${normal} is ${kind}`;
}

/** `a metadata address`; undefined when the address may be contacted. */
export function forbiddenKind(address: string): string | undefined {
  const normal = normalizeAddress(address);
  return normal === undefined ? 'not an IP address' : NEVER.find(([, list]) => isIn(list, normal))?.[0];
}

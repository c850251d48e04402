// The options with which a socket connects to an address of a member. A host may have several addresses, which lead to
// the same server. Node tries one after the other (Happy Eyeballs, RFC 8305).
import type { Address } from './member.ts';

export interface TcpTarget {
  readonly host: string;
  readonly port: number;
  readonly lookup?: (
    name: string,
    options: unknown,
    found: (error: null, addresses: { address: string; family: number }[]) => void,
  ) => void;
  readonly autoSelectFamily?: boolean;
  readonly autoSelectFamilyAttemptTimeout?: number;
}

/** Node allows no shorter attempt. The deadline of a long operation is no reason to wait long. Milliseconds. */
const SHORTEST_MS = 10;
const LONGEST_MS = 2_000;

/** Each address gets an equal share of the time. No name is looked up: the addresses are those that were checked. */
export function tcpTarget({ host, port, others = [] }: Address, timeoutMs: number): TcpTarget {
  if (others.length === 0) return { host, port };
  const addresses = [host, ...others].map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return {
    // Node looks up a name alone.
    host: 'checked-addresses',
    port,
    lookup: (_name, _options, found) => found(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.min(
      LONGEST_MS,
      Math.max(SHORTEST_MS, Math.floor(timeoutMs / addresses.length)),
    ),
  };
}

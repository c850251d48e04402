// Whether other hosts can reach an address that a configuration has.
import type { Address } from '../../model/member.ts';

export function isLoopback({ host }: Pick<Address, 'host'>): boolean {
  return /^127\.|^::1$|^localhost$/.test(host);
}

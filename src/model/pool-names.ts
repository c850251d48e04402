// The names by which a client requests a pool.
import type { PoolName } from './policy.ts';

/** For the pools that exist without being configured. */
export const POOL_ALIASES: Readonly<Record<string, PoolName>> = { rw: 'write', ro: 'read' };

/** The name itself comes first, so that an alias never hides an operator's pool of that name. */
export function findPool(requested: string, pools: readonly PoolName[]): PoolName | undefined {
  const alias = Object.hasOwn(POOL_ALIASES, requested) ? POOL_ALIASES[requested] : undefined;
  return [requested, alias].find((name) => name !== undefined && pools.includes(name));
}

// What the target in a startup packet means here: a pool by its name, else by what its users would call it. Pure.
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import { clientText } from './client-text.ts';

/** For the pools that exist without being configured. */
const ALIASES: Readonly<Record<string, PoolName>> = { rw: 'write', ro: 'read' };

export type ChosenPool =
  | { readonly kind: 'pool'; readonly pool: PoolName }
  | { readonly kind: 'unknown'; readonly detail: string };

/** `own`: for those who name no target. */
export function choosePool(target: string | undefined, own: PoolName, pools: readonly PoolPolicy[]): ChosenPool {
  const names = pools.map(({ name }) => name);
  const pool = target === undefined ? own : poolOfTarget(target, names);
  return pool === undefined
    ? { kind: 'unknown', detail: describeUnknown(target ?? '', names) }
    : { kind: 'pool', pool };
}

/** A pool of that very name comes first, so that nobody's own pool `ro` is hidden. */
export function poolOfTarget(target: string, pools: readonly PoolName[]): PoolName | undefined {
  return [target, Object.hasOwn(ALIASES, target) ? ALIASES[target] : undefined].find(
    (name) => name !== undefined && pools.includes(name),
  );
}

/** `"foo" is none of write, read, rw (write), ro (read)` */
export function describeUnknown(target: string, pools: readonly PoolName[]): string {
  const aliases = Object.entries(ALIASES).filter(([alias, pool]) => pools.includes(pool) && !pools.includes(alias));
  const known = [...pools, ...aliases.map(([alias, pool]) => `${alias} (${pool})`)];
  return `"${clientText(target)}" is none of ${known.join(', ')}`;
}

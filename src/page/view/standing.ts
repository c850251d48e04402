// A member's place in one pool, and over all pools, as a sign and a word. The whole reason is its `why` in the pool.
import type { MemberStatusDocument } from '../../documents/member-document.ts';
import type { PoolStatusDocument } from '../../documents/status-document.ts';

/** Each has its own shape: full circle, empty circle, triangle, cross. */
export type Sign = 'routed' | 'idle' | 'warning' | 'bad';

export interface SignedPlace {
  readonly sign: Sign;
  readonly word: string;
}

export function placeIn({ name }: PoolStatusDocument, { pools }: MemberStatusDocument): SignedPlace {
  const { sign, word } = pools[name]?.place ?? { sign: 'idle', word: 'not in it' };
  return { sign: sign === 'eligible' ? 'idle' : sign, word };
}

export function isTarget({ route }: PoolStatusDocument, member: string): boolean {
  return route.kind === 'open' && route.members.some(({ name }) => name === member);
}

/** A pool for writes routes to the member, whatever the others do: several such pools may have several members. */
export function servesWrites(pools: readonly PoolStatusDocument[], member: string): boolean {
  return pools.some((pool) => pool.exclusive && isTarget(pool, member));
}

/** The worst news, unless a pool routes to the member. */
export function signOf(pools: readonly PoolStatusDocument[], member: MemberStatusDocument): Sign {
  const signs = pools.map((pool) => placeIn(pool, member).sign);
  const isRouted = signs.includes('routed');
  if (member.failing !== undefined) return isRouted ? 'warning' : 'bad';
  if (member.drained !== undefined) return 'warning';
  if (isRouted) return 'routed';
  return signs.includes('bad') ? 'bad' : signs.includes('warning') ? 'warning' : 'idle';
}

/** `200 /primary`: the newest answer that a pool was decided by. */
export function evidenceOf(pools: readonly PoolStatusDocument[], member: MemberStatusDocument): string {
  const ordered = pools.toSorted((a, b) => Number(isTarget(b, member.name)) - Number(isTarget(a, member.name)));
  for (const { name } of ordered) {
    const answered = member.pools[name]?.answered;
    if (answered !== undefined) return `${answered.status} ${answered.check}`;
  }
  return 'no answer yet';
}

// A member's place in one pool, and over all pools, as a sign and a word. The whole reason is the pool's `why`.
import type { MemberStatusDocument, PoolStatusDocument, StandingDocument } from '../../admin/schema/status.ts';

/** Each has its own shape: full circle, empty circle, triangle, cross. */
export type Sign = 'routed' | 'idle' | 'warning' | 'bad';

export interface Place {
  readonly sign: Sign;
  readonly word: string;
}

/** By `cause`, for a member that is out of the pool. */
const EXCLUDED: Readonly<Record<string, Place>> = {
  dead: { sign: 'bad', word: 'down' },
  silent: { sign: 'bad', word: 'no answer' },
  removed: { sign: 'bad', word: 'removed' },
  demoted: { sign: 'warning', word: 'demoted' },
  lagging: { sign: 'warning', word: 'lag too high' },
  old_timeline: { sign: 'warning', word: 'old timeline' },
  check_failed: { sign: 'idle', word: 'fails the check' },
  operator: { sign: 'warning', word: 'drained' },
  tagged_out: { sign: 'idle', word: 'excluded by tag' },
  promoted: { sign: 'idle', word: 'is the primary' },
  fallback_over: { sign: 'idle', word: 'fallback only' },
};

/** Roles that are no fault in a pool of another kind. */
const STANDBYS: readonly (string | null)[] = ['replica', 'sync_standby', 'standby_leader'];
const ROLES: readonly (string | null)[] = ['primary', 'master', ...STANDBYS];

export function placeIn(pool: PoolStatusDocument, member: MemberStatusDocument): Place {
  const standing = member.pools[pool.name];
  if (isTarget(pool, member.name)) {
    const isLent = pool.route.kind === 'open' && pool.route.fallback !== null;
    return { sign: 'routed', word: isLent ? 'used as fallback' : 'routed' };
  }
  if (standing === undefined) return { sign: 'idle', word: 'not in it' };
  switch (standing.standing) {
    case 'open':
      return { sign: 'idle', word: 'eligible' };
    case 'keep':
      return { sign: 'warning', word: 'no new sessions' };
    case 'leave':
      return excluded(member, standing);
  }
}

function excluded(member: MemberStatusDocument, { cause }: StandingDocument): Place {
  // A former primary that has become a replica is one like the others.
  if (cause === 'not_primary' || (cause === 'demoted' && STANDBYS.includes(member.role))) {
    if (member.failing !== undefined) return { sign: 'bad', word: 'no answer' };
    return ROLES.includes(member.role)
      ? { sign: 'idle', word: `is a ${String(member.role).replaceAll('_', ' ')}` }
      : { sign: 'idle', word: 'not primary' };
  }
  return EXCLUDED[cause ?? ''] ?? { sign: 'idle', word: (cause ?? 'excluded').replaceAll('_', ' ') };
}

export function isTarget({ route }: PoolStatusDocument, member: string): boolean {
  return route.kind === 'open' && route.members.some(({ name }) => name === member);
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

/** `was primary`: of a member that does not answer any more. Undefined: it has never answered. */
export function roleOf(pools: readonly PoolStatusDocument[], member: MemberStatusDocument): string | undefined {
  const role = member.role?.replaceAll('_', ' ');
  return role !== undefined && member.failing !== undefined && signOf(pools, member) === 'bad' ? `was ${role}` : role;
}

/** `200 /primary`: the newest answer that a pool was decided by. */
export function evidenceOf(pools: readonly PoolStatusDocument[], member: MemberStatusDocument): string {
  const ordered = pools.toSorted((a, b) => Number(isTarget(b, member.name)) - Number(isTarget(a, member.name)));
  for (const { name } of ordered) {
    const [, status, check] = /answered (\d+) to (\S+)/.exec(member.pools[name]?.why ?? '') ?? [];
    if (status !== undefined && check !== undefined) return `${status} ${check}`;
  }
  return 'no answer yet';
}

// A member's place in a pool as a sign and a word, and its role in words: for the page, `pointsman status`, `top` and
// `explain`. Pure.
import { exclusionWord } from '../core/place-words.ts';
import type { MemberStatusDocument, PlaceDocument, StandingDocument } from '../documents/member-document.ts';
import type { PoolStatusDocument } from '../documents/status-document.ts';

export type MemberFacts = Omit<MemberStatusDocument, 'role_text' | 'pools'> & {
  readonly pools: Readonly<Record<string, Omit<StandingDocument, 'place'>>>;
};
type Pool = Pick<PoolStatusDocument, 'name' | 'route'>;

/** By `cause`, for a member that is out of the pool. Default: idle. */
const SIGNS: Readonly<Record<string, PlaceDocument['sign']>> = {
  dead: 'bad',
  silent: 'bad',
  removed: 'bad',
  demoted: 'warning',
  lagging: 'warning',
  stale: 'warning',
  old_timeline: 'warning',
  operator: 'warning',
  fallback_over: 'eligible',
};

/** Roles that are no fault in a pool of another kind. */
const STANDBYS: readonly (string | null)[] = ['replica', 'sync_standby', 'standby_leader'];
const ROLES: readonly (string | null)[] = ['primary', 'master', ...STANDBYS];

/** With a place in each pool that knows the member. */
export function placed(member: MemberFacts, pools: readonly Pool[]): MemberStatusDocument {
  const places = Object.entries(member.pools).map(([name, standing]) => {
    const pool = pools.find((one) => one.name === name);
    return [name, { ...standing, place: placeOf(member, standing, pool?.route) }] as const;
  });
  return { ...member, role_text: roleText(member), pools: Object.fromEntries(places) };
}

function placeOf(
  member: MemberFacts,
  { standing, cause }: Pick<StandingDocument, 'standing' | 'cause'>,
  route: Pool['route'] | undefined,
): PlaceDocument {
  if (route?.kind === 'open' && route.members.some(({ name }) => name === member.name)) {
    return { sign: 'routed', word: route.fallback === null ? 'routed' : 'used as fallback' };
  }
  switch (standing) {
    case 'open':
      return { sign: 'eligible', word: 'eligible' };
    case 'keep':
      return { sign: 'warning', word: 'no new sessions' };
    case 'leave':
      return excluded(member, cause);
  }
}

function excluded({ role, failing }: MemberFacts, cause: string | undefined): PlaceDocument {
  const hasYielded = cause === 'demoted' && (STANDBYS.includes(role) || failing !== undefined);
  // A former primary that has become a replica is one like the others.
  if (cause === 'not_primary' || hasYielded) {
    if (failing !== undefined) return { sign: 'bad', word: 'no answer' };
    return { sign: 'idle', word: ROLES.includes(role) ? `is a ${wordsOf(role)}` : 'not primary' };
  }
  return { sign: SIGNS[cause ?? ''] ?? 'idle', word: exclusionWord(cause ?? 'excluded') };
}

/** A member that does not answer keeps its role only while a pool takes it as eligible. */
function roleText({ role, failing, pools }: MemberFacts): string | null {
  if (role === null) return null;
  const isEligible = Object.values(pools).some(({ standing }) => standing === 'open');
  return failing === undefined || isEligible ? wordsOf(role) : `was ${wordsOf(role)}`;
}

function wordsOf(name: string | null): string {
  return String(name).replaceAll('_', ' ');
}

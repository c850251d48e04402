// The content of the picture: which pool has which track to which member. Places are view/layout.ts.
import type { MemberStatusDocument } from '../../documents/member-document.ts';
import type { PoolStatusDocument, StatusDocument } from '../../documents/status-document.ts';
import { movingIn } from '../state/samples.ts';
import { isTarget, placeIn, servesWrites, signOf, type Sign } from './standing.ts';

/**
 * `solid`: sessions are routed there. `dashed`: live sessions are leaving. `dotted`: possible, not used now.
 */
export type TrackKind = 'solid' | 'dashed' | 'dotted';

export interface Track {
  readonly pool: string;
  readonly member: string;
  readonly kind: TrackKind;
  readonly sessions: number;
}

export interface PoolNode extends Omit<PoolStatusDocument, 'sessions'> {
  readonly sessions: number;
  readonly waiting: number;
  /** Parked, or at the login of their next server. */
  readonly moving: number;
  /** The longest wait of a client. Undefined: none waits. */
  readonly waitSeconds: number | undefined;
}

export interface MemberNode extends MemberStatusDocument {
  readonly sign: Sign;
  readonly isPrimary: boolean;
  readonly sessions: number;
  readonly leaving: number;
  /** Pool and reason. */
  readonly reasons: readonly (readonly [string, string])[];
}

export interface Routes {
  readonly pools: readonly PoolNode[];
  readonly members: readonly MemberNode[];
  readonly tracks: readonly Track[];
}

/** The picture of more members would say less than the table. */
export const MOST_MEMBERS = 12;
/** With more, the tracks to members of another role are left out. */
const MANY_TRACKS = 12;

export function routesOf({ pools, members }: StatusDocument): Routes {
  const isCrowded = pools.length * members.length > MANY_TRACKS;
  const tracks = pools.flatMap((pool) => members.flatMap((member) => trackOf(pool, member, isCrowded)));
  return {
    pools: pools.map(poolNode),
    members: members.map((member) => memberNode(pools, member, tracks)),
    tracks,
  };
}

function trackOf(pool: PoolStatusDocument, member: MemberStatusDocument, isCrowded: boolean): readonly Track[] {
  const standing = member.pools[pool.name];
  const sessions = pool.sessions?.by_member[member.name] ?? 0;
  const track = { pool: pool.name, member: member.name, sessions };
  if (isTarget(pool, member.name)) return [{ ...track, kind: 'solid' }];
  if (sessions > 0) return [{ ...track, kind: 'dashed' }];
  if (standing === undefined) return [];
  const isOfOtherRole = placeIn(pool, member).sign === 'idle' && standing.cause !== 'fallback_over';
  return isCrowded && isOfOtherRole ? [] : [{ ...track, kind: 'dotted' }];
}

function poolNode(pool: PoolStatusDocument): PoolNode {
  const states = pool.sessions?.by_state;
  return {
    ...pool,
    sessions: Object.values(states ?? {}).reduce((sum, count) => sum + count, 0),
    waiting: states?.holding ?? 0,
    moving: movingIn(pool.sessions),
    waitSeconds: pool.sessions?.longest_wait_seconds,
  };
}

function memberNode(
  pools: readonly PoolStatusDocument[],
  member: MemberStatusDocument,
  tracks: readonly Track[],
): MemberNode {
  const own = tracks.filter((track) => track.member === member.name);
  const sum = (some: readonly Track[]): number => some.reduce((total, { sessions }) => total + sessions, 0);
  return {
    ...member,
    sign: signOf(pools, member),
    isPrimary: servesWrites(pools, member.name),
    sessions: sum(own),
    reasons: reasonsOf(pools, member),
    leaving: sum(own.filter(({ kind }) => kind === 'dashed')),
  };
}

/** For each pool the sentence of explain: that of the log and the client's DETAIL, and what `balance: latency` saw. */
export function reasonsOf(
  pools: readonly PoolStatusDocument[],
  member: MemberStatusDocument,
): readonly (readonly [string, string])[] {
  return pools.map(({ name, sessions }) => {
    const why = member.pools[name]?.why ?? 'not in this pool';
    const latency = sessions?.latency?.[member.name]?.summary;
    return [name, latency === undefined ? why : `${why}; ${latency}`];
  });
}

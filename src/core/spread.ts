// Which sessions of a shared pool go to a member that came back, so that it has its share of those that were open
// already. Only such a member gets any, and only until it has its share once: sessions that come and go move nobody.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { sumOf } from '../model/sums.ts';

/** A target of the pool, at one moment. */
export interface SpreadMember {
  readonly member: MemberName;
  /** The pool's sessions on it, with those that are on their way to it. */
  readonly sessions: number;
  /** As for new sessions: with slow start, above 0. */
  readonly weight: number;
  /** In another zone. */
  readonly isFar?: true | undefined;
  /** It missed a probe: nobody comes or goes. */
  readonly isSuspect?: true | undefined;
  /** It came back, and has not had its share since. */
  readonly isOwed: boolean;
  /** How many of its sessions may move now. */
  readonly mayLeave: number;
}

/** One session goes from one member to another. */
export interface Shift {
  readonly from: MemberName;
  readonly to: MemberName;
}

/** When a member was opened, and the opening after which it last had its share. */
export interface SpreadOpening {
  readonly openedAt: Instant;
  readonly givenFor: Instant | undefined;
}

/** A member that opened a moment ago may be gone again. Milliseconds. */
const SETTLE_MS = 5_000;
/** A member whose share cannot be moved to it is owed nothing after this time. Milliseconds. */
const OWED_MS = 600_000;
/** A session that has moved by this rule stays for at least this time. Milliseconds. */
const REST_MS = 600_000;

export function isOwed({ openedAt, givenFor }: SpreadOpening, slowStartMs: number, now: Instant): boolean {
  // A member that was open from the beginning, since -Infinity, had its share all the time.
  return givenFor !== openedAt && now - openedAt < slowStartMs + OWED_MS;
}

/** The first session may move to a member that is owed some. */
export function isSettled({ openedAt }: Pick<SpreadOpening, 'openedAt'>, now: Instant): boolean {
  return now - openedAt >= SETTLE_MS;
}

/** `movedAt`: the last move by this rule. Undefined: there was none. */
export function maySpread(movedAt: Instant | undefined, now: Instant): boolean {
  return movedAt === undefined || now - movedAt >= REST_MS;
}

interface Place extends SpreadMember {
  load: number;
  left: number;
}

/**
 * At most `limit` sessions, one after the other: from the member with the most for its weight to the owed one with the
 * fewest, up to its share, while the one does not have fewer than the other afterwards. While a member of our zone is
 * open, those of others give all they have, and get none.
 */
export function planSpread(members: readonly SpreadMember[], limit: number): readonly Shift[] {
  const places = members.map((one): Place => ({ ...one, load: one.sessions, left: one.mayLeave }));
  const hasNear = places.some(({ isFar, isSuspect }) => isFar !== true && isSuspect !== true);
  const isOutside = (place: Place): boolean => hasNear && place.isFar === true;
  const shifts: Shift[] = [];
  while (shifts.length < limit) {
    const near = places.filter((place) => !isOutside(place));
    const mayTake = (place: Place): boolean => place.isOwed && place.isSuspect !== true;
    const to = leastLoaded(near.filter((place) => mayTake(place) && isBelowShare(place, near, places)));
    if (to === undefined) break;
    const givers = places.filter((place) => place.left > 0 && place.isSuspect !== true);
    const outside = givers.filter(isOutside);
    const inside = givers.filter((place) => !isOutside(place) && isBetter(place, to));
    const from = mostLoaded(outside) ?? mostLoaded(inside);
    if (from === undefined) break;
    from.load -= 1;
    from.left -= 1;
    to.load += 1;
    shifts.push({ from: from.member, to: to.member });
  }
  return shifts;
}

/** The move helps: the giver does not have fewer for its weight than the taker afterwards. */
function isBetter(from: Place, to: Place): boolean {
  return (from.load - 1) / from.weight >= (to.load + 1) / to.weight;
}

/** With one session more it has no more than its share of all of them. */
function isBelowShare(to: Place, sharers: readonly Place[], all: readonly Place[]): boolean {
  const total = sumOf(all, ({ load }) => load);
  return to.load + 1 <= Math.ceil((total * to.weight) / sumOf(sharers, ({ weight }) => weight));
}

function leastLoaded(places: readonly Place[]): Place | undefined {
  return places.reduce<Place | undefined>((least, place) => {
    return least === undefined || place.load / place.weight < least.load / least.weight ? place : least;
  }, undefined);
}

function mostLoaded(places: readonly Place[]): Place | undefined {
  return places.reduce<Place | undefined>((most, place) => {
    return most === undefined || place.load / place.weight > most.load / most.weight ? place : most;
  }, undefined);
}

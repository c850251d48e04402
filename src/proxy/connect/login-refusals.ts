// The logins that servers refused: too many connections, starting, a wrong password, a close without a word. A member
// that would refuse the next client as well is tried last for a moment, and a refused login counts as load for a while:
// a server that refuses has few sessions, and `least_sessions` would give it every client.
import { isFull, refusesOthers } from '../../wire/startup/backend-greeting.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import { sharedClock } from '../fault.ts';
import type { RefusedLogins } from '../../reports/counts.ts';
import type { ProxyEvent } from '../../reports/events.ts';
import type { SessionHandle } from '../stage.ts';

export interface LoginRefusalsOptions {
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
  readonly drains: {
    /** The member has no free connection: the drains of its sessions begin now. */
    hurry(member: MemberName): void;
    /** Sessions are leaving the member. */
    isClearing(member: MemberName): boolean;
  };
}

/** A full server stays full for longer than one takes to start or to stop. Milliseconds. */
const AVOIDED_MS = { full: 2_000, other: 1_000 };
/** After this time a refused login counts half as a session. Milliseconds. */
const HALF_LIFE_MS = 5_000;
/** Refusals without such a gap belong together. They are shown for as long. Milliseconds. */
const SHOWN_MS = 60_000;

interface Episode {
  readonly since: Instant;
  at: Instant;
  count: number;
  sqlState: string | undefined;
  load: number;
}

export class LoginRefusals {
  readonly #options: LoginRefusalsOptions;
  readonly #avoidedUntil = new Map<MemberName, Instant>();
  readonly #episodes = new Map<PoolName, Map<MemberName, Episode>>();

  constructor(options: LoginRefusalsOptions) {
    this.#options = { ...options, clock: sharedClock(options.clock) };
  }

  /** `sqlState` is undefined: the server closed without a word. */
  note({ id, pool }: Pick<SessionHandle, 'id' | 'pool'>, member: MemberName, sqlState: string | undefined): void {
    const { clock, onEvent } = this.#options;
    const now = clock.now();
    const members = this.#episodes.get(pool) ?? new Map<MemberName, Episode>();
    this.#episodes.set(pool, members);
    const known = members.get(member);
    const isGoingOn = known !== undefined && now - known.at < SHOWN_MS;
    const episode = isGoingOn ? known : { since: now, at: now, count: 0, sqlState, load: 0 };
    Object.assign(episode, { at: now, count: episode.count + 1, sqlState, load: loadAt(episode, now) + 1 });
    members.set(member, episode);
    const affectsOthers = refusesOthers(sqlState);
    if (affectsOthers) {
      this.#avoidedUntil.set(member, now + (isFull(sqlState) ? AVOIDED_MS.full : AVOIDED_MS.other));
    }
    onEvent({ kind: 'login_refused', pool, session: id, member, sqlState, affectsOthers });
    if (isFull(sqlState)) this.#makeRoom(member);
  }

  /** Sessions of other pools are leaving the member, so there will be room. */
  isClearing(member: MemberName): boolean {
    return this.#options.drains.isClearing(member);
  }

  /** It takes clients only while no other target can. */
  isAvoided(member: MemberName): boolean {
    return this.#options.clock.now() < (this.#avoidedUntil.get(member) ?? -Infinity);
  }

  /** Recent refusals of the pool's clients, in sessions. */
  load(pool: PoolName, member: MemberName): number {
    const episode = this.#episodes.get(pool)?.get(member);
    return episode === undefined ? 0 : Math.round(loadAt(episode, this.#options.clock.now()));
  }

  /** The members that have refused logins of the pool lately. */
  shown(pool: PoolName): ReadonlyMap<MemberName, RefusedLogins> {
    const now = this.#options.clock.now();
    const members = this.#episodes.get(pool) ?? new Map<MemberName, Episode>();
    for (const [member, { at }] of members) if (now - at >= SHOWN_MS) members.delete(member);
    return new Map(
      [...members].map(([member, { since, at, count, sqlState }]) => [member, { since, at, count, sqlState }]),
    );
  }

  /** Later, because the drains bring the routing table up to date, which may end the session that found no room. */
  #makeRoom(member: MemberName): void {
    const { clock, drains } = this.#options;
    if (drains.isClearing(member)) clock.schedule(0, () => drains.hurry(member));
  }
}

function loadAt({ load, at }: Episode, now: Instant): number {
  return load * 2 ** ((at - now) / HALF_LIFE_MS);
}

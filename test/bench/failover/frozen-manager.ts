// The primary's Patroni freezes, its PostgreSQL does not: for less than the leader's ttl, so that the roles stay, or
// longer, so that another member is promoted while the old primary still takes writes.
import { serverName } from '../../support/clusters/server-name.ts';
import { monotonicMs } from '../../support/waiting/wait.ts';
import { count, type Counts } from './judgement.ts';
import type { Lab } from './lab.ts';
import type { KeptSession } from './peer.ts';
import { Population } from './population.ts';

export interface FrozenFigures {
  readonly sessions: number;
  /** Sessions that ended although their primary was the only one and took writes. */
  readonly cutWhileHealthy: number;
  /** Sessions still open on the old primary 10 s after the first direct write on the new one; 0 without a new one. */
  readonly leftBehind: number;
  /** The ends of sessions after the new primary's first direct write; milliseconds, sorted. */
  readonly endsMs: readonly number[];
  /** The first report of the new primary's own API that it is primary, from the same moment. */
  readonly saidAfterMs: number | undefined;
  readonly counts: Counts;
  readonly errors: readonly string[];
}

interface Clients {
  readonly population: Population;
  readonly sessions: readonly KeptSession[];
}

const SESSIONS_EACH = 10;
const LEFT_BEHIND_AFTER_MS = 10_000;
/** A proxy may know of the promotion a moment before the first direct write is found. */
const PROMOTION_MS = 100;
/** Longer than ttl and the election. */
const PROMOTED_WITHIN_MS = 60_000;

async function populate(lab: Lab, perSecond: number): Promise<readonly Clients[]> {
  const kept = await Promise.all(lab.peers.map((peer) => peer.keep(SESSIONS_EACH)));
  return lab.peers.map((peer, index) => ({
    population: new Population(peer, perSecond, lab.nextToken),
    sessions: kept[index] ?? [],
  }));
}

async function depopulate(clients: readonly Clients[]): Promise<void> {
  await Promise.all(clients.map(({ population }) => population.stop()));
  await Promise.all(clients.flatMap(({ sessions }) => sessions.map((session) => session.close())));
}

/** Freezes for less than the ttl: no peer has a reason to close or refuse a session. */
export async function freezeBriefly(
  lab: Lab,
  frozenMs: number,
  perSecond: number,
): Promise<ReadonlyMap<string, FrozenFigures>> {
  const { cluster } = lab;
  const { leader } = await lab.settled();
  const clients = await populate(lab, perSecond);
  try {
    const faultAtMs = monotonicMs();
    await cluster.freezeManager(leader.name);
    await lab.pass(frozenMs);
    await cluster.thawManager(leader.name);
    const { leader: after } = await lab.settled();
    if (after.name !== leader.name)
      throw new Error(`${after.name} was promoted: ${frozenMs} ms were too long for the ttl`);
    const server = serverName(leader);
    const facts = { faultAtMs, before: server, after: server, changedAtMs: Infinity };
    return await figuresOf(clients, async ({ population, sessions }) => {
      const cutWhileHealthy = sessions.filter(({ endedAtMs }) => endedAtMs !== undefined).length;
      const attempts = await population.stop();
      return {
        sessions: sessions.length,
        cutWhileHealthy,
        leftBehind: 0,
        endsMs: [],
        saidAfterMs: undefined,
        counts: count(attempts, facts),
        errors: textsOf(attempts),
      };
    });
  } finally {
    await depopulate(clients);
  }
}

/** Freezes for longer than the ttl: until another member is primary, and 10 s more. */
export async function freezeUntilReplaced(lab: Lab, perSecond: number): Promise<ReadonlyMap<string, FrozenFigures>> {
  const { cluster } = lab;
  const { leader: old } = await lab.settled();
  const clients = await populate(lab, perSecond);
  try {
    const floor = cluster.watchFirstDirectWrite({ excluding: old.name, timeoutMs: PROMOTED_WITHIN_MS });
    const faultAtMs = monotonicMs();
    await cluster.freezeManager(old.name);
    const first = await floor.done;
    const changedAtMs = first.atMs;
    await lab.pass(changedAtMs + LEFT_BEHIND_AFTER_MS - monotonicMs());
    const facts = { faultAtMs, before: serverName(old), after: serverName(first.member), changedAtMs };
    return await figuresOf(clients, async ({ population, sessions }) => {
      const ends = sessions.map(({ endedAtMs = Infinity }) => endedAtMs);
      const attempts = await population.stop();
      return {
        sessions: sessions.length,
        cutWhileHealthy: ends.filter((endedAtMs) => endedAtMs < changedAtMs - PROMOTION_MS).length,
        leftBehind: ends.filter((endedAtMs) => endedAtMs > changedAtMs + LEFT_BEHIND_AFTER_MS).length,
        endsMs: ends.map((endedAtMs) => endedAtMs - changedAtMs).toSorted((a, b) => a - b),
        saidAfterMs: first.primaryRoleAtMs === undefined ? undefined : first.primaryRoleAtMs - changedAtMs,
        counts: count(attempts, facts),
        errors: textsOf(attempts),
      };
    });
  } finally {
    await depopulate(clients);
    // The writes on the old primary alone are lost in any case, and after a thaw it could take the leader key again.
    await cluster.kill(old.name);
    await cluster.start(old.name);
  }
}

async function figuresOf(
  clients: readonly Clients[],
  figures: (of: Clients) => Promise<FrozenFigures>,
): Promise<ReadonlyMap<string, FrozenFigures>> {
  return new Map(await Promise.all(clients.map(async (of) => [of.population.peer.name, await figures(of)] as const)));
}

function textsOf(attempts: readonly { readonly error: string | undefined }[]): readonly string[] {
  return [...new Set(attempts.flatMap((attempt) => attempt.error ?? []))];
}

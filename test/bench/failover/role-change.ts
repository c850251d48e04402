// The primary changes under load (switchover or host death), or is restarted in place. The clients of all peers see the
// same change.
import { serverName } from '../../support/clusters/server-name.ts';
import { HeldSession } from '../../support/applications/held-session.ts';
import type { FirstDirectWrite } from '../../support/patroni/floor.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { count, type Counts } from './judgement.ts';
import type { Lab } from './lab.ts';
import { Population } from './population.ts';

export type RoleChange = 'switchover' | 'host death' | 'restart in place';

/** The figures of one peer in one change. */
export interface RoleChangeFigures {
  /**
   * From the new primary's first direct write to the peer's first; after a restart in place from the first write of any
   * client. Infinity without a write within the deadline.
   */
  readonly delayMs: number;
  /** The first report of the new primary's own API that it is primary, from the same moment; undefined without one. */
  readonly saidAfterMs: number | undefined;
  readonly counts: Counts;
  /** The distinct texts of the failed attempts. */
  readonly errors: readonly string[];
}

const EVERY_PEER_WRITES_MS = 60_000;

/** The figures by the peer's name; the cluster is healthy again afterwards. */
export async function changeRole(
  lab: Lab,
  kind: RoleChange,
  perSecond: number,
): Promise<ReadonlyMap<string, RoleChangeFigures>> {
  const { cluster } = lab;
  const { leader: old } = await lab.settled();
  const direct = await HeldSession.open(old.port, cluster.app, old.host);
  const populations = lab.peers.map((peer) => new Population(peer, perSecond, lab.nextToken));
  const everyoneWritesOn = async (server: MemberAddress, sinceMs = 0): Promise<boolean> =>
    populations.every((population) => population.firstWriteOnMs(serverName(server), sinceMs) !== undefined);
  try {
    await cluster.waitUntil('writes through every peer', () => everyoneWritesOn(old), EVERY_PEER_WRITES_MS);
    const first = await (kind === 'restart in place' ? restarted(lab, old, direct) : replaced(lab, old, kind));
    const next = serverName(first.member);
    const faultAtMs = direct.endedAtMs;
    if (faultAtMs === undefined) throw new Error('the session on the old primary outlived it');
    // A peer without a write within the deadline has no figure; the other peers have theirs.
    await cluster
      .waitUntil('writes on the new primary', () => everyoneWritesOn(first.member, faultAtMs), EVERY_PEER_WRITES_MS)
      .catch(() => undefined);
    const facts = { faultAtMs, before: serverName(old), after: next, changedAtMs: first.atMs };
    const writtenMs = populations.map((population) => population.firstWriteOnMs(next, faultAtMs) ?? Infinity);
    // A restart is short, and libpq in its own process often writes before the watcher in this one.
    const referenceMs = kind === 'restart in place' ? Math.min(first.atMs, ...writtenMs) : first.atMs;
    const figures = populations.map(async (population) => {
      const attempts = await population.stop();
      return [
        population.peer.name,
        {
          delayMs: (population.firstWriteOnMs(next, faultAtMs) ?? Infinity) - referenceMs,
          saidAfterMs: first.primaryRoleAtMs === undefined ? undefined : first.primaryRoleAtMs - first.atMs,
          counts: count(attempts, facts),
          errors: [...new Set(attempts.flatMap((attempt) => attempt.error ?? []))],
        },
      ] as const;
    });
    return new Map(await Promise.all(figures));
  } finally {
    await Promise.all(populations.map((population) => population.stop()));
    await direct.close();
    if (kind === 'host death') await cluster.start(old.name);
  }
}

async function replaced({ cluster }: Lab, old: MemberAddress, kind: RoleChange): Promise<FirstDirectWrite> {
  const floor = cluster.watchFirstDirectWrite({ excluding: old.name });
  await (kind === 'switchover' ? cluster.switchover() : cluster.kill(old.name));
  return floor.done;
}

/** The first direct write after PostgreSQL has ended the session. */
async function restarted({ cluster }: Lab, primary: MemberAddress, session: HeldSession): Promise<FirstDirectWrite> {
  const isDone = cluster.restart(primary.name);
  await cluster.waitUntil('the end of its sessions', async () => session.endedAtMs !== undefined, EVERY_PEER_WRITES_MS);
  const first = await cluster.watchFirstDirectWrite().done;
  await isDone;
  return first;
}

// The primary changes under load: by a switchover, or because its host dies. Every peer's clients live through the same change.
import { serverName } from '../../support/clusters/server-name.ts';
import { HeldSession } from '../../support/held-session.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { count, type Counts } from './judgement.ts';
import type { Lab } from './lab.ts';
import { Population } from './population.ts';

export type RoleChange = 'switchover' | 'host death';

/** Of one peer in one change. */
export interface RoleChangeFigures {
  /** From the new primary's first direct write to the peer's first; Infinity when there was none within the deadline. */
  readonly delayMs: number;
  /** When the new primary's own API first said that it runs as primary, from the same moment; undefined if it did not. */
  readonly saidAfterMs: number | undefined;
  readonly counts: Counts;
  /** What the failed attempts said, each text once. */
  readonly errors: readonly string[];
}

const EVERY_PEER_WRITES_MS = 60_000;

/** Figures by the peer's name; the cluster is whole again afterwards. */
export async function changeRole(
  lab: Lab,
  kind: RoleChange,
  perSecond: number,
): Promise<ReadonlyMap<string, RoleChangeFigures>> {
  const { cluster } = lab;
  const { leader: old } = await lab.settled();
  const direct = await HeldSession.open(old.port, cluster.app, old.host);
  const populations = lab.peers.map((peer) => new Population(peer, perSecond, lab.nextToken));
  const everyoneWritesOn = async ({ host, port }: MemberAddress): Promise<boolean> =>
    populations.every((population) => population.firstWriteOnMs(serverName({ host, port })) !== undefined);
  try {
    await cluster.waitUntil('writes through every peer', () => everyoneWritesOn(old), EVERY_PEER_WRITES_MS);
    const floor = cluster.watchFirstDirectWrite({ excluding: old.name });
    await (kind === 'switchover' ? cluster.switchover() : cluster.kill(old.name));
    const first = await floor.done;
    const next = serverName(first.member);
    // Who does not make it within the deadline has no figure; the others have theirs.
    await cluster
      .waitUntil('writes on the new primary', () => everyoneWritesOn(first.member), EVERY_PEER_WRITES_MS)
      .catch(() => undefined);
    const faultAtMs = direct.endedAtMs;
    if (faultAtMs === undefined) throw new Error('the session on the old primary outlived it');
    const facts = { faultAtMs, before: serverName(old), after: next, changedAtMs: first.atMs };
    const figures = populations.map(async (population) => {
      const attempts = await population.stop();
      return [
        population.peer.name,
        {
          delayMs: (population.firstWriteOnMs(next) ?? Infinity) - first.atMs,
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

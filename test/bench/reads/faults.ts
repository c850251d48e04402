// Faults of the cluster while reads are checked. Each is over, and its trace gone, when it resolves.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { request } from '../../support/moves/move.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import type { Network } from '../consistency/network.ts';

export interface FaultStage {
  readonly cluster: PatroniCluster;
  readonly pointsman: PointsmanProcess;
  /** Undefined: no network of its own, no cuts. */
  readonly network: Network | undefined;
}

export interface ReadFault {
  readonly name: string;
  readonly play: (stage: FaultStage) => Promise<void>;
  readonly needsNetwork?: boolean;
}

const OPERATION_MS = 90_000;
/** Shorter than Patroni's ttl: the primary stays. */
const FROZEN_MS = 5_000;
/** For so long a server that was replaced runs without its Patroni. */
const ALONE_MS = 3_000;
/** For so long a primary writes what one replica does not get. */
const AHEAD_MS = 1_500;

export const READ_FAULTS: readonly ReadFault[] = [
  {
    name: 'switchover by Patroni',
    play: async ({ cluster }) => void (await cluster.switchover()),
  },
  { name: 'switchover by Pointsman', play: ({ pointsman }) => switchoverByPointsman(pointsman) },
  {
    name: 'restart of both replicas, one after the other',
    play: async ({ cluster }) => {
      for (const name of await replicas(cluster)) await cluster.restart(name);
    },
  },
  {
    name: 'crash of PostgreSQL on the primary',
    play: async ({ cluster }) => cluster.killPostgres((await cluster.leader()).name),
  },
  {
    name: 'kill -9 of the primary with its Patroni',
    play: async ({ cluster }) => {
      const { name } = await cluster.leader();
      await cluster.kill(name);
      await anotherLeader(cluster, name);
      await cluster.start(name);
    },
  },
  {
    name: 'primary frozen for 5 s, and it stays the primary',
    play: async ({ cluster }) => {
      const { name } = await cluster.leader();
      await Promise.all([cluster.freezeManager(name), cluster.freezePostgres(name)]);
      await delay(FROZEN_MS);
      await Promise.all([cluster.thawPostgres(name), cluster.thawManager(name)]);
    },
  },
  {
    // Its Patroni stays frozen, and would take the lock back (Patroni 3.0.2).
    name: 'primary frozen until another leads, then its PostgreSQL goes on',
    play: async ({ cluster }) => {
      const { name } = await cluster.leader();
      await Promise.all([cluster.freezeManager(name), cluster.freezePostgres(name)]);
      await anotherLeader(cluster, name);
      await cluster.thawPostgres(name);
      await delay(ALONE_MS);
      await cluster.kill(name);
      await cluster.start(name);
    },
  },
  { name: 'promotion of a replica that lacks what the other one has', play: promoteTheOneBehind, needsNetwork: true },
];

/** The other replica is ahead, on the old timeline, until Patroni has rewound it. */
async function promoteTheOneBehind({ cluster, network }: FaultStage): Promise<void> {
  if (network === undefined) throw new Error('no network of its own');
  const { name: primary } = await cluster.leader();
  const [behind, ahead] = await replicas(cluster);
  if (behind === undefined || ahead === undefined) throw new Error('two replicas are needed');
  await cluster.setTags(ahead, { nofailover: true });
  const heal = await network.cut(primary, [behind]);
  await delay(AHEAD_MS);
  await cluster.kill(primary);
  // The kernel sends what was under way even for a process that is dead.
  try {
    await anotherLeader(cluster, primary);
  } finally {
    await heal();
  }
  const { name } = await cluster.leader();
  if (name !== behind) throw new Error(`${name} was promoted, not ${behind}`);
  await cluster.start(primary);
  await cluster.setTags(ahead, {});
}

async function replicas(cluster: PatroniCluster): Promise<readonly string[]> {
  const { name: primary } = await cluster.leader();
  return cluster.members().flatMap(({ name }) => (name === primary ? [] : [name]));
}

function anotherLeader(cluster: PatroniCluster, than: string): Promise<unknown> {
  const after = cluster.watchFirstDirectWrite({ excluding: than, timeoutMs: OPERATION_MS });
  return after.done;
}

const list = z.object({
  operations: z.array(z.looseObject({ state: z.enum(['running', 'ended']), outcome: z.string().nullable() })),
});

async function switchoverByPointsman(pointsman: PointsmanProcess): Promise<void> {
  const response = await request(pointsman, 'POST', '/switchover');
  if (!response.ok) throw new Error(`POST /switchover: ${response.status} ${await response.text()}`);
  const newest = await pointsman.waitFor(
    'the end of the switchover',
    async () => {
      const { operations } = list.parse(await (await request(pointsman, 'GET', '/operations')).json());
      return operations[0]?.state === 'ended' ? operations[0] : undefined;
    },
    OPERATION_MS,
  );
  if (newest.outcome !== 'done') throw new Error(`the switchover ended: ${newest.outcome}`);
}

// The kinds of faults: each does something to the cluster, and is taken back.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { request } from '../../../support/moves/move.ts';
import type { PatroniCluster } from '../../../support/patroni/cluster.ts';
import { type Network, POINTSMAN, STORE } from '../network.ts';
import type { ReplaceableProxy } from '../replaceable-proxy.ts';
import type { FaultRecord } from '../history.ts';
import type { FaultKind, PlannedFault } from './plan.ts';

export interface Stage {
  readonly cluster: PatroniCluster;
  readonly proxy: ReplaceableProxy;
  /** Undefined: no network of its own, no cuts. */
  readonly network: Network | undefined;
  readonly isSynchronous: boolean;
}

/** A fault that runs. */
export interface Running {
  /** A member, or a part of the cluster. */
  readonly on: string;
  /** Members whose API Pointsman cannot reach meanwhile. */
  readonly hidden: readonly string[];
  /** After the planned time. */
  readonly end: () => Promise<void>;
  /** Pointsman does not run between these two moments. To be read after `end`. */
  readonly blind?: () => FaultRecord['blind'];
}

type Begin = (stage: Stage, fault: PlannedFault) => Promise<Running>;

const nothing = async (): Promise<void> => undefined;

/** Longer than the ttl: the next primary is there by then. */
const FAILOVER_MS = 23_000;
const OPERATION_MS = 60_000;
/** Clients do nothing without it. */
const MOST_AWAY_MS = 3000;
/** For so long a primary writes alone before it dies. */
const AHEAD_MS = 2000;

function onPrimary(
  begin: (cluster: PatroniCluster, primary: string, fault: PlannedFault) => Promise<() => Promise<void>>,
  isHidden = true,
): Begin {
  return async ({ cluster }, fault) => {
    const { name } = await cluster.leader();
    return { on: name, hidden: isHidden ? [name] : [], end: await begin(cluster, name, fault) };
  };
}

async function aReplica(cluster: PatroniCluster, { replica }: PlannedFault): Promise<string> {
  const { name } = await cluster.leader();
  const replicas = cluster.members().filter((member) => member.name !== name);
  return replicas[replica % replicas.length]?.name ?? name;
}

function cut(others: (network: Network, primary: string) => readonly string[], isHidden: boolean): Begin {
  return async ({ cluster, network }) => {
    if (network === undefined) throw new Error('no network of its own');
    const { name } = await cluster.leader();
    return { on: name, hidden: isHidden ? [name] : [], end: await network.cut(name, others(network, name)) };
  };
}

function replicasOf(network: Network, primary: string): readonly string[] {
  return network.names().filter((name) => ![primary, STORE, POINTSMAN].includes(name));
}

/** It would lead again at once: the host stays away until another member is the primary. */
async function launchLater(cluster: PatroniCluster, name: string, awayMs: number): Promise<void> {
  await delay(Math.max(0, FAILOVER_MS - awayMs));
  await cluster.launch(name);
}

const restarted = (cluster: PatroniCluster, name: string) => async (): Promise<void> => {
  await cluster.kill(name);
  await cluster.launch(name);
};

export const BEGIN: Readonly<Record<FaultKind, Begin>> = {
  'switchover by Patroni': async ({ cluster }) => {
    const { name } = await cluster.switchover();
    return { on: name, hidden: [], end: nothing };
  },
  'switchover by Pointsman': async ({ cluster, proxy }) => {
    await switchoverByPointsman(proxy.current);
    const { name } = await cluster.leader();
    return { on: name, hidden: [], end: nothing };
  },
  'restart of the primary': onPrimary(async (cluster, name) => {
    await cluster.restart(name);
    return nothing;
  }),
  'kill of the primary host': onPrimary(async (cluster, name, { lastsMs }) => {
    await cluster.kill(name);
    return () => launchLater(cluster, name, lastsMs);
  }),
  'kill of a primary ahead of its replicas': async ({ cluster, network }, { lastsMs }) => {
    if (network === undefined) throw new Error('no network of its own');
    const { name } = await cluster.leader();
    const heal = await network.cut(name, replicasOf(network, name));
    await delay(AHEAD_MS);
    await cluster.kill(name);
    await heal();
    return { on: name, hidden: [name], end: () => launchLater(cluster, name, lastsMs) };
  },
  'kill of a replica host': async ({ cluster }, fault) => {
    const name = await aReplica(cluster, fault);
    await cluster.kill(name);
    return { on: name, hidden: [name], end: () => cluster.launch(name) };
  },
  'kill of PostgreSQL': onPrimary(async (cluster, name) => {
    await cluster.killPostgres(name);
    return nothing;
  }),
  'kill of Patroni': onPrimary(async (cluster, name) => {
    cluster.killManager(name);
    return restarted(cluster, name);
  }),
  'freeze of Patroni': onPrimary(async (cluster, name) => {
    await cluster.freezeManager(name);
    return () => cluster.thawManager(name);
  }),
  'freeze of PostgreSQL': onPrimary(async (cluster, name) => {
    await cluster.freezePostgres(name);
    return () => cluster.thawPostgres(name);
  }),
  'freeze of the primary host': onPrimary(async (cluster, name) => {
    await Promise.all([cluster.freezeManager(name), cluster.freezePostgres(name)]);
    return async () => {
      await Promise.all([cluster.thawPostgres(name), cluster.thawManager(name)]);
    };
  }),
  'primary cut off from all': cut((network, primary) => network.names().filter((name) => name !== primary), true),
  // Its clients and Pointsman are on its side. Until it notices, it acknowledges writes that no replica has.
  'primary cut off from the cluster': cut(
    (network, primary) => network.names().filter((name) => ![primary, POINTSMAN].includes(name)),
    false,
  ),
  'primary cut off from the store': cut(() => [STORE], false),
  'primary cut off from the replicas': cut(replicasOf, false),
  'primary cut off from Pointsman': cut(() => [POINTSMAN], true),
  'replica cut off from Pointsman': async ({ cluster, network }, fault) => {
    if (network === undefined) throw new Error('no network of its own');
    const name = await aReplica(cluster, fault);
    return { on: name, hidden: [name], end: await network.cut(name, [POINTSMAN]) };
  },
  'outage of the store': async ({ cluster }) => {
    await cluster.stopEtcd();
    return { on: STORE, hidden: [], end: () => cluster.startEtcd() };
  },
  'pause of Patroni': async ({ cluster }) => {
    await cluster.patchConfig({ pause: true });
    return { on: 'cluster', hidden: [], end: () => cluster.patchConfig({ pause: null }) };
  },
  'crash during a pause': onPrimary(async (cluster, name) => {
    await cluster.patchConfig({ pause: true });
    await cluster.killPostgres(name);
    return () => cluster.patchConfig({ pause: null });
  }),
  'replica that lags': async ({ cluster }, fault) => {
    const name = await aReplica(cluster, fault);
    await cluster.lagReplica(name);
    return { on: name, hidden: [], end: () => cluster.unlagReplica(name) };
  },
  'kill of Pointsman': async ({ proxy }, { lastsMs }) => {
    const fromMs = Date.now();
    await proxy.kill();
    await delay(Math.min(lastsMs, MOST_AWAY_MS));
    await proxy.launch();
    const toMs = Date.now();
    return { on: POINTSMAN, hidden: [], end: nothing, blind: () => ({ fromMs, toMs }) };
  },
  'replacement of Pointsman': async ({ proxy }) => {
    await proxy.replace();
    return { on: POINTSMAN, hidden: [], end: nothing };
  },
  'freeze of Pointsman': async ({ proxy }) => blinded(proxy, async () => undefined),
  // Its clients go on sending, and the old primary, whose Patroni is dead, goes on executing.
  'freeze of Pointsman through a failover': async ({ cluster, proxy }) => {
    const { name } = await cluster.leader();
    const running = await blinded(proxy, async () => {
      cluster.killManager(name);
      await cluster.waitUntil('another primary', async () => (await cluster.leader()).name !== name, OPERATION_MS);
    });
    const end = async (): Promise<void> => {
      await running.end();
      await delay(AHEAD_MS);
      await restarted(cluster, name)();
    };
    return { ...running, end };
  },
};

/** Frozen from before `meanwhile` until the end of the fault. */
async function blinded(proxy: ReplaceableProxy, meanwhile: () => Promise<void>): Promise<Running> {
  const fromMs = Date.now();
  let toMs = Infinity;
  const end = async (): Promise<void> => {
    toMs = Date.now();
    proxy.thaw();
  };
  proxy.freeze();
  await meanwhile().catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return { on: POINTSMAN, hidden: [], end, blind: () => ({ fromMs, toMs }) };
}

const list = z.object({ operations: z.array(z.looseObject({ state: z.enum(['running', 'ended']) })) });

/** The operation holds clients, and moves sessions where `moves` is on. */
async function switchoverByPointsman(pointsman: ReplaceableProxy['current']): Promise<void> {
  const response = await request(pointsman, 'POST', '/switchover');
  const text = await response.text();
  if (!response.ok) throw new Error(`POST /switchover: ${response.status} ${text}`);
  await pointsman.waitFor(
    'the end of the switchover',
    async () => {
      const { operations } = list.parse(await (await request(pointsman, 'GET', '/operations')).json());
      return operations.every(({ state }) => state === 'ended');
    },
    OPERATION_MS,
  );
}

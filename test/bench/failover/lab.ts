// Everything that runs during the benchmark: one real cluster with every peer before it, and its cleanup.
import { setTimeout as delay } from 'node:timers/promises';
import { patroniAvailability, type Installation } from '../../support/patroni/availability.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { startPatroniCluster } from '../../support/patroni/start-cluster.ts';
import { SHIPPED, TUNED } from './haproxy-config.ts';
import { findHaproxy, startHaproxy } from './haproxy.ts';
import { startLibpq } from './libpq.ts';
import type { Peer } from './peer.ts';
import { startPointsmanPeer } from './pointsman.ts';
import { CREATE_ROWS } from './rows.ts';

/** HAProxy as shipped needs two checks of 3 s to mark a server up after Patroni answers again. */
const SETTLE_TIMEOUT_MS = 90_000;

export interface Scene {
  readonly leader: MemberAddress;
  readonly replicas: readonly MemberAddress[];
}

export class Lab {
  readonly cluster: PatroniCluster;
  readonly peers: readonly Peer[];
  #lastToken = 0;

  private constructor(cluster: PatroniCluster, peers: readonly Peer[]) {
    this.cluster = cluster;
    this.peers = peers;
  }

  static async start(): Promise<Lab> {
    const installation = whatItNeeds();
    const cluster = await startPatroniCluster();
    const peers: Peer[] = [];
    try {
      const { name } = await cluster.leader();
      await cluster.sql(name, CREATE_ROWS, { as: cluster.app });
      peers.push(await startHaproxy('HAProxy, as shipped', SHIPPED, cluster, installation));
      peers.push(await startHaproxy('HAProxy, tuned', TUNED, cluster, installation));
      peers.push(startLibpq(cluster, installation.python));
      peers.push(await startPointsmanPeer(cluster));
      return new Lab(cluster, peers);
    } catch (error) {
      await end(cluster, peers);
      throw error;
    }
  }

  nextToken = (): number => {
    this.#lastToken += 1;
    return this.#lastToken;
  };

  /** Resolves when the cluster is healthy and every peer sees it so, to keep the scenes independent. */
  async settled(): Promise<Scene> {
    await this.cluster.waitUntilHealthy();
    const leader = await this.cluster.leader();
    const replicas = this.cluster.members().filter(({ name }) => name !== leader.name);
    for (const peer of this.peers) {
      const isSettled = (): Promise<boolean> => peer.isSettled(leader, replicas);
      await this.cluster.waitUntil(`${peer.name} settled`, isSettled, SETTLE_TIMEOUT_MS);
    }
    return { leader, replicas };
  }

  /** Waits a fixed time, for the scenes in which no event may occur. */
  pass(ms: number): Promise<void> {
    return delay(ms);
  }

  stop(): Promise<void> {
    return end(this.cluster, this.peers);
  }
}

function whatItNeeds(): Installation {
  const patroni = patroniAvailability();
  if (!patroni.available) throw new Error(`Patroni, etcd or PostgreSQL is missing: ${patroni.howToInstall}`);
  if (findHaproxy() === undefined) throw new Error('HAProxy is missing: apt-get install haproxy');
  return patroni.installation;
}

async function end(cluster: PatroniCluster, peers: readonly Peer[]): Promise<void> {
  await Promise.all(peers.map((peer) => peer.stop()));
  await cluster.destroy();
}

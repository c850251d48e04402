// One history: a cluster, Pointsman before it, clients, and the faults of a plan. Afterwards everything that happened
// is here for the judges.
import { Client } from '../clients/client.ts';
import { SimulatedCluster, type ClusterMember } from '../cluster/cluster.ts';
import type { SimulatedPointsman } from '../pointsman/simulated-pointsman.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { createWorld, type Host, type World } from '../world/world.ts';
import type { EvidenceWitness } from './evidence-witness.ts';
import { hasLostAll, Observer } from '../judge/observer.ts';
import type { Plan } from './plan.ts';
import { DRAIN_MS, GRACE_MS, READ_PORT, Site, WRITE_PORT } from './site.ts';
import { beginFault } from '../faults.ts';

/** An event of one Pointsman, and when. */
export interface TimedEvent {
  readonly at: number;
  /** Which one of those that ran one after another, or side by side. */
  readonly run: number;
  readonly event: ReportedEvent;
}

const STEP_MS = 2_000;
/** The clients and the faults begin then. Milliseconds. */
export const START_MS = 2_000;
/** Keepalive finds the host of a server that has lost the answer within 15 s. */
const LONGEST_WAIT_MS = 16_000;

export class Scene {
  readonly plan: Plan;
  readonly world: World;
  readonly cluster: SimulatedCluster;
  /** One Pointsman on each, which knows nothing of the others. */
  readonly sites: readonly Site[];
  /** Sends orders to the members. */
  readonly operator: Host;
  readonly clients: Client[] = [];
  readonly events: TimedEvent[] = [];
  readonly witnesses: EvidenceWitness[] = [];
  readonly observer: Observer;
  /** Sentences about faults of the simulation's own laws, found while it ran. */
  readonly found: string[] = [];
  /** All that ever ran, on any site. */
  readonly pointsmen: SimulatedPointsman[] = [];

  constructor(plan: Plan) {
    this.plan = plan;
    const { seed, shape } = plan;
    this.world = createWorld(seed);
    const names = Array.from({ length: shape.members }, (_, index) => `pg${index + 1}`);
    this.cluster = new SimulatedCluster(this.world, {
      members: names,
      timeline: shape.timeline,
      config: shape.isSynchronous ? { synchronous_mode: true } : {},
      tags: shape.readsByTag ? Object.fromEntries(names.map((name) => [name, { reads: 'yes' }])) : {},
    });
    this.observer = new Observer(this.world, this.cluster);
    this.operator = this.world.network.host('operator', '10.0.2.1');
    if (shape.filesDiffer) this.cluster.member('pg1').server.file.set('search_path', 'legacy, public');
    this.cluster.start();
    this.sites = Array.from({ length: shape.pointsmen }, (_, index) => new Site(this, index));
    this.#addClients(shape.writers, 'writer');
    this.#addClients(shape.readers, 'reader');
  }

  /** Until the end of the quiet time; nothing runs any more then. */
  async run(): Promise<this> {
    const { faultsMs, quietMs, faults } = this.plan;
    this.observer.start();
    await this.world.run(START_MS);
    for (const client of this.clients) client.start();
    for (const fault of faults) {
      this.world.schedule(fault.atMs, () => {
        const end = beginFault(this, fault);
        this.world.schedule(Math.min(fault.forMs, faultsMs - fault.atMs), end);
      });
    }
    await this.world.run(faultsMs + quietMs);
    this.#judgeLiveness();
    this.observer.end(this.pointsmen);
    for (const { pointsman } of this.sites) void pointsman.drain();
    await this.world.run(GRACE_MS + DRAIN_MS);
    for (const client of this.clients) client.stop();
    await this.world.run(STEP_MS);
    return this;
  }

  /** `choice`: any number. */
  site(choice: number): Site {
    const site = this.sites[choice % this.sites.length];
    if (site === undefined) throw new Error('there is no site');
    return site;
  }

  /** `choice`: any number. */
  client(choice: number): Client {
    const client = this.clients[choice % this.clients.length];
    if (client === undefined) throw new Error('there is no client');
    return client;
  }

  member(index: number | undefined): ClusterMember {
    const { members } = this.cluster;
    const leader = this.cluster.store.leader();
    const chosen = index === undefined ? members.find(({ name }) => name === leader) : members[index % members.length];
    return chosen ?? this.cluster.member('pg1');
  }

  /** Each has its own site, and many of them know the others, as libpq's list of hosts does. */
  #addClients(count: number, kind: 'writer' | 'reader'): void {
    const { world, sites } = this;
    const random = world.random.fork(`sites of each ${kind}`);
    const port = kind === 'writer' ? WRITE_PORT : READ_PORT;
    const lingers = this.plan.shape.onStays === 'abort';
    for (let number = 1; number <= count; number += 1) {
      const name = `${kind[0]}${number}`;
      const host = world.network.host(name, `10.0.${kind === 'writer' ? 3 : 4}.${number}`);
      const own = this.site(number + sites.length - 1);
      const others = random.chance(0.5) ? sites.filter((site) => site !== own) : [];
      const known = [own, ...others].map(({ host: { address } }) => ({ address, port }));
      // Some take the hosts of their list in any order.
      const targets = (): typeof known => (random.chance(0.3) ? known.toReversed() : known);
      this.clients.push(new Client({ world, host, name, kind, paceMs: 80, targets, lingers }));
    }
  }

  /** After the quiet time everybody is served. */
  #judgeLiveness(): void {
    const now = this.world.now();
    const primary = this.cluster.primary();
    if (primary === undefined || this.cluster.isBelowGivenUpTimeline(primary)) return;
    if (this.pointsmen.some((pointsman) => hasLostAll(pointsman, this.cluster))) return;
    for (const client of this.clients) {
      const { account } = client;
      if (client.isOver()) continue;
      const waits = client.waitsSince();
      if (waits !== undefined && now - waits > LONGEST_WAIT_MS) {
        this.found.push(
          `liveness: ${account.name} waits for ${(now - waits).toFixed(0)} ms, and ${primary.name} leads`,
        );
      }
    }
  }
}

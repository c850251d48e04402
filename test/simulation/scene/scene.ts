// One history: a cluster, Pointsman before it, clients, and the faults of a plan. Afterwards everything that happened
// is here for the judges.
import { Client } from '../clients/client.ts';
import { SimulatedCluster, type ClusterMember } from '../cluster/cluster.ts';
import { SimulatedPointsman } from '../pointsman/simulated-pointsman.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { createWorld, type Host, type World } from '../world/world.ts';
import { EvidenceWitness } from './evidence-witness.ts';
import type { Plan } from './plan.ts';
import { beginFault } from '../faults.ts';

/** An event of one Pointsman, and when. */
export interface TimedEvent {
  readonly at: number;
  /** Which one of those that ran one after another, or side by side. */
  readonly run: number;
  readonly event: ReportedEvent;
}

export const POINTSMAN_ADDRESS = '10.0.0.201';
export const WRITE_PORT = 5000;
export const READ_PORT = 5001;
/** Shorter than the defaults, as the times of the cluster are. Milliseconds. */
export const WRITE_MAX_AGE_MS = 3_000;
export const SILENCE_GRACE_MS = 7_000;
const MOST_LATE_MS = 300;
const STEP_MS = 2_000;
const START_MS = 2_000;
/** Keepalive finds the host of a server that has lost the answer within 15 s. */
const LONGEST_WAIT_MS = 16_000;

export class Scene {
  readonly plan: Plan;
  readonly world: World;
  readonly cluster: SimulatedCluster;
  readonly host: Host;
  /** Sends orders to the members. */
  readonly operator: Host;
  readonly clients: Client[] = [];
  readonly events: TimedEvent[] = [];
  readonly witnesses: EvidenceWitness[] = [];
  /** Sentences about faults of the simulation's own laws, found while it ran. */
  readonly found: string[] = [];
  pointsman: SimulatedPointsman;
  /** All that ever ran. */
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
    });
    this.host = this.world.network.host('pointsman', POINTSMAN_ADDRESS);
    if (shape.isBusy) this.host.isBusyUpTo(MOST_LATE_MS);
    this.operator = this.world.network.host('operator', '10.0.2.1');
    if (shape.filesDiffer) this.cluster.member('pg1').server.file.set('search_path', 'legacy, public');
    this.cluster.start();
    this.pointsman = this.newPointsman();
    this.#addClients(shape.writers, 'writer');
    this.#addClients(shape.readers, 'reader');
  }

  /** Until the end of the quiet time; nothing runs any more then. */
  async run(): Promise<this> {
    const { faultsMs, quietMs, faults } = this.plan;
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
    for (const client of this.clients) client.stop();
    await this.world.run(5_000);
    void this.pointsman.stop();
    await this.world.run(STEP_MS);
    return this;
  }

  newPointsman(): SimulatedPointsman {
    const run = this.pointsmen.length;
    const { shape } = this.plan;
    const witness = new EvidenceWitness(this.host.clock, {
      systemIdentifier: this.cluster.systemIdentifier,
      writeMaxAgeMs: WRITE_MAX_AGE_MS,
      silenceGraceMs: SILENCE_GRACE_MS,
      delayMs: shape.workers > 1 ? 20 : 0,
      vouching: shape.vouching,
      asksByStartup: shape.moves === 'always',
    });
    this.witnesses.push(witness);
    const pointsman = new SimulatedPointsman({
      world: this.world,
      host: this.host,
      file: this.#file(),
      witness,
      onEvent: (event) => {
        this.events.push({ at: this.world.now(), run, event });
        this.world.note(`pointsman ${run}: ${shortly(event)}`);
      },
    });
    this.pointsmen.push(pointsman);
    void pointsman
      .start()
      .catch((error: unknown) => this.found.push(`pointsman ${run} cannot start: ${String(error)}`));
    return pointsman;
  }

  member(index: number | undefined): ClusterMember {
    const { members } = this.cluster;
    const leader = this.cluster.store.leader();
    const chosen = index === undefined ? members.find(({ name }) => name === leader) : members[index % members.length];
    return chosen ?? this.cluster.member('pg1');
  }

  #addClients(count: number, kind: 'writer' | 'reader'): void {
    for (let number = 1; number <= count; number += 1) {
      const name = `${kind[0]}${number}`;
      const host = this.world.network.host(name, `10.0.${kind === 'writer' ? 3 : 4}.${number}`);
      const target = { address: POINTSMAN_ADDRESS, port: kind === 'writer' ? WRITE_PORT : READ_PORT };
      this.clients.push(new Client({ world: this.world, host, name, kind, paceMs: 80, target: () => target }));
    }
  }

  #file(): Readonly<Record<string, unknown>> {
    const { moves, workers, vouching, holdMs } = this.plan.shape;
    return {
      cluster: {
        scope: this.cluster.scope,
        seeds: this.cluster.members.map(({ host }) => `http://${host.address}:8008`),
      },
      relay: 'streams',
      workers,
      probe: {
        vouching,
        write_max_age: `${WRITE_MAX_AGE_MS}ms`,
        silence_grace: `${SILENCE_GRACE_MS}ms`,
        urgent: { for: '5s' },
      },
      hold: { client_timeout: `${holdMs}ms`, outage_timeout: '20s' },
      backend: { tcp_keepalives_idle: '5s' },
      client: { tcp_keepalives_idle: '5s' },
      shutdown: { grace: '1s', drain_timeout: '5s' },
      listeners: [
        { address: `${POINTSMAN_ADDRESS}:${WRITE_PORT}`, pool: 'write', ...(workers === 1 && { reuse_port: true }) },
        { address: `${POINTSMAN_ADDRESS}:${READ_PORT}`, pool: 'read', ...(workers === 1 && { reuse_port: true }) },
      ],
      ...(moves !== 'off' && { moves: { mode: moves, roles: ['*'] } }),
    };
  }

  /** After the quiet time everybody is served. */
  #judgeLiveness(): void {
    const now = this.world.now();
    const primary = this.cluster.primary();
    if (primary === undefined) return;
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

function shortly(event: ReportedEvent): string {
  const fields = Object.entries(event).filter(
    ([key, value]) => value !== undefined && key !== 'text' && key !== 'client',
  );
  const words = fields.map(([key, value]) => (typeof value === 'string' ? `${key}=${value}` : jsonOf(key, value)));
  return words.join(' ').replace('kind=', '');
}

function jsonOf(key: string, value: unknown): string {
  return `${key}=${JSON.stringify(value, rounded)}`;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? +value.toFixed(1) : value;
}

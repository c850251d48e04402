// A simulated cluster: members with a manager and a PostgreSQL each, and a store. Whatever happens in it is the truth.
import { Ledger } from '../postgres/ledger.ts';
import { PostgresServer } from '../postgres/server.ts';
import { WalPool } from '../postgres/wal.ts';
import type { Host, World } from '../world/world.ts';
import { Manager } from './manager.ts';
import { Store, type ClusterConfig, type Tags } from './store.ts';
import { StoreService } from './store-service.ts';

export interface ClusterOptions {
  /** The names of its members. The first one leads at the beginning. */
  readonly members: readonly string[];
  readonly scope?: string;
  readonly systemIdentifier?: string;
  /** As many promotions as it takes have happened before. Default: 1. */
  readonly timeline?: number;
  /** The version of PostgreSQL. */
  readonly version?: string;
  readonly maxConnections?: number;
  readonly config?: Partial<ClusterConfig>;
  /** By the name of the member. */
  readonly tags?: Readonly<Record<string, Tags>>;
  /** The hosts of members, which another cluster has had before. */
  readonly hosts?: readonly Host[];
  /** The last part of the first address: 10.0.0.N. */
  readonly firstAddress?: number;
}

export const POSTGRES_PORT = 5432;
export const API_PORT = 8008;
/** Shorter than Patroni's defaults, in the same proportion, so that more happens. */
const CONFIG: ClusterConfig = { ttl: 6, loop_wait: 2, retry_timeout: 2, maximum_lag_on_failover: 1_048_576 };

/** One member: its host, its manager and its server. */
export class ClusterMember {
  readonly name: string;
  readonly host: Host;
  readonly server: PostgresServer;
  readonly manager: Manager;

  constructor(server: PostgresServer, manager: Manager) {
    this.name = server.name;
    this.host = server.host;
    this.server = server;
    this.manager = manager;
  }

  /** The machine is without power. */
  crash(): void {
    this.host.crash();
    this.manager.kill();
    this.server.kill();
  }

  /** The machine is up again, and starts the manager. */
  boot(): void {
    this.host.boot();
    this.manager.start();
  }

  /** Its API says that it is the primary, until the returned function ends that. */
  claimToLead(timeline: number): () => void {
    const { api } = this.manager;
    const place = { location: this.server.wal.end() };
    const claim = { role: 'primary', state: 'running', timeline, xlog: place };
    const body = { ...api.document(), ...claim, replication_state: undefined, sync_standby: undefined };
    api.fault = { kind: 'lie', answer: { status: 200, body: JSON.stringify(body) } };
    return () => (api.fault = undefined);
  }

  /** It leaves the cluster: its servers end in order, and its key goes with its time. */
  leave(): void {
    this.manager.kill();
    this.server.stop();
  }

  /** Both are gone, and something else may use the ports. */
  remove(): void {
    this.manager.isAway = true;
    this.manager.kill();
    this.server.kill();
  }
}

export class SimulatedCluster {
  readonly scope: string;
  readonly members: readonly ClusterMember[];
  readonly store: Store;
  readonly storeService: StoreService;
  readonly ledger = new Ledger();
  /** Other clusters that have had the address of a member. */
  /** `since`: true milliseconds. */
  readonly strangers: { readonly cluster: SimulatedCluster; readonly since: number }[] = [];
  readonly #timeline: number;
  readonly #world: World;

  constructor(world: World, options: ClusterOptions) {
    const { members, scope = 'main', firstAddress = 11 } = options;
    const { network, now } = world;
    this.#world = world;
    this.#timeline = options.timeline ?? 1;
    this.scope = scope;
    const config = { ...CONFIG, ...options.config };
    this.store = new Store(now, config);
    const storeHost = network.host(`store-${firstAddress - 1}`, `10.0.0.${firstAddress - 1}`);
    this.storeService = new StoreService(storeHost, this.store);
    const pool = new WalPool();
    this.members = members.map((name, index) => {
      const host = options.hosts?.[index] ?? network.host(name, `10.0.0.${firstAddress + index}`);
      return this.#member(name, host, pool, config, options);
    });
  }

  member(name: string): ClusterMember {
    const found = this.members.find((member) => member.name === name);
    if (found === undefined) throw new Error(`there is no member ${name}`);
    return found;
  }

  get systemIdentifier(): string {
    return this.members[0]?.server.systemIdentifier ?? '';
  }

  /** The cluster has run for a while: the first member leads, and the others stream from it. */
  start(): void {
    const [first, ...others] = this.members;
    if (first === undefined) return;
    first.server.wal.append({ kind: 'checkpoint', isShutdown: true });
    for (let timeline = 1; timeline < this.#timeline; timeline += 1)
      first.server.wal.promote(0, first.name, timeline - 1);
    first.server.wal.flush();
    first.server.start(true);
    this.store.acquire(first.name, this.store.read().config.ttl * 1_000);
    this.store.identify(first.server.systemIdentifier);
    first.manager.startAsLeader();
    for (const { server, manager } of others) {
      server.copyFrom(first.server);
      server.follow({ address: first.host.address, port: first.server.port });
      server.start(false);
      manager.start();
    }
  }

  /** The holder of the lock, if its PostgreSQL takes writes. */
  primary(): ClusterMember | undefined {
    const leader = this.store.leader();
    return this.members.find(({ name, server }) => name === leader && server.state() === 'primary');
  }

  /** Pointsman refuses it for a while (guarantees.md: timelines). */
  isBelowGivenUpTimeline({ server }: ClusterMember): boolean {
    return this.ledger.promotions.some(({ timeline }) => timeline > server.timeline());
  }

  /**
   * A server of another cluster, with another system identifier and on a higher timeline, takes the place of this
   * member, until the returned function gives the place back.
   */
  replace(name: string): () => void {
    const member = this.member(name);
    // A stranger is there already, and gives the place back in its own time.
    if (member.manager.isAway) return () => {};
    member.remove();
    this.#world.note(`${name}: another cluster has this address now`);
    const other = new SimulatedCluster(this.#world, {
      members: [name],
      scope: this.scope,
      systemIdentifier: '7799999999999999999',
      timeline: 1 + Math.max(...this.members.map(({ server }) => server.wal.timeline())),
      hosts: [member.host],
      firstAddress: 101 + 10 * this.strangers.length,
    });
    this.strangers.push({ cluster: other, since: this.#world.now() });
    other.start();
    return () => {
      for (const stranger of other.members) stranger.remove();
      other.storeService.kill();
      this.#world.note(`${name}: has its address again`);
      member.manager.isAway = false;
      member.manager.start();
    };
  }

  #member(name: string, host: Host, pool: WalPool, config: ClusterConfig, options: ClusterOptions): ClusterMember {
    const { now, random, note, network } = this.#world;
    const server = new PostgresServer({
      name,
      host,
      port: POSTGRES_PORT,
      version: options.version ?? '16.4',
      systemIdentifier: options.systemIdentifier ?? '7710469816362497241',
      maxConnections: options.maxConnections ?? 100,
      pool,
      ledger: this.ledger,
      random: random.fork(`postgres ${name}`),
      now,
      note,
    });
    const manager = new Manager({
      name,
      scope: this.scope,
      host,
      apiPort: API_PORT,
      server,
      storeAddress: this.storeService.host.address,
      config,
      tags: options.tags?.[name] ?? {},
      random: random.fork(`manager ${name}`),
      serverOf: (other) => {
        const source = this.members.find((member) => member.name === other);
        const isReached =
          source !== undefined && network.isOpen(host, source.host) && network.isOpen(source.host, host);
        return isReached ? source.server : undefined;
      },
      note,
    });
    return new ClusterMember(server, manager);
  }
}

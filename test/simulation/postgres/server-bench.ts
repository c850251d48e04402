// Simulated servers for tests: a primary with standbys that follow it, without managers, and a host for clients.
import { Connection } from '../clients/connection.ts';
import type { Host, World } from '../world/world.ts';
import { Ledger } from './ledger.ts';
import { PostgresServer } from './server.ts';
import { WalPool } from './wal.ts';

export class ServerBench {
  readonly server: PostgresServer;
  readonly standbys: readonly PostgresServer[];
  readonly client: Host;
  readonly ledger = new Ledger();
  readonly #world: World;
  readonly #pool = new WalPool();

  constructor(world: World, standbys = 0, maxConnections = 20) {
    this.#world = world;
    this.client = world.network.host('client', '10.0.1.1');
    this.server = this.#server('pg1', maxConnections);
    this.server.start(true);
    this.standbys = Array.from({ length: standbys }, (_, index) => {
      const standby = this.#server(`pg${index + 2}`, maxConnections);
      standby.copyFrom(this.server);
      standby.follow({ address: this.server.host.address, port: this.server.port });
      standby.start(false);
      return standby;
    });
  }

  connection(server = this.server, applicationName = 'test'): Connection {
    const { address } = server.host;
    return new Connection({
      host: this.client,
      address,
      port: server.port,
      user: 'app',
      database: 'shop',
      applicationName,
      session: 'test-1',
      patienceMs: 20_000,
    });
  }

  #server(name: string, maxConnections: number): PostgresServer {
    const { now, note, random, network } = this.#world;
    return new PostgresServer({
      name,
      host: network.host(name, `10.0.0.${name.slice(2)}`),
      port: 5432,
      version: '16.4',
      systemIdentifier: '7',
      maxConnections,
      pool: this.#pool,
      ledger: this.ledger,
      random: random.fork(name),
      now,
      note,
    });
  }
}

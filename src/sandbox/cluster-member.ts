// One member of the sandbox as a machine: a PostgreSQL, its manager and the manager's API, which die and come back
// together. It also knows the faults that were made on purpose.
import { createApiServer, type ManagerServer } from './api/api-listener.ts';
import { messageOf } from './http-server.ts';
import { createOperations } from './manager/manager-operations.ts';
import { Manager } from './manager/manager.ts';
import type { ManagerOptions } from './manager/managed-member.ts';
import type { Store } from './manager/store.ts';
import { linkTo } from './manager/store-link.ts';
import type { MemberView } from './manager/view.ts';
import type { Network } from './network.ts';
import type { PostgresServer } from './postgres/postgres-server.ts';
import type { DialectName, SandboxMember } from './sandbox.ts';

export type MemberSetup = Omit<ManagerOptions, 'role' | 'apiUrl' | 'store'> & {
  readonly store: Store;
  readonly network: Network;
  readonly apiPort: number;
  readonly dialect: DialectName;
};

type MemberFault = 'killed' | 'manager frozen' | 'postgres frozen' | 'replay paused' | 'cut off' | 'slow';

/** The version of Patroni that the managers behave like. */
const MANAGER_VERSION = '4.1.4';

export class ClusterMember {
  readonly name: string;
  readonly server: PostgresServer;
  readonly #setup: MemberSetup;
  readonly #faults = new Set<MemberFault>();
  #running: { readonly manager: Manager; readonly api: ManagerServer } | undefined;

  constructor(setup: MemberSetup) {
    this.name = setup.name;
    this.server = setup.server;
    this.#setup = setup;
  }

  address(): SandboxMember {
    const { name, server, apiPort } = this.#setup;
    return { name, host: server.host, port: server.port, api: `http://${server.host}:${apiPort}` };
  }

  faults(): readonly MemberFault[] {
    return [...this.#faults];
  }

  /** Starts the manager, which decides when PostgreSQL starts. Rejects when the API's port is taken. */
  async bringUp(role: 'primary' | 'replica'): Promise<void> {
    const { apiPort, dialect, network, ...options } = this.#setup;
    const store = linkTo(options.store, () => network.isCut(this.name));
    const askPeers = network.through(this.name, options.askPeers);
    const manager = new Manager({ ...options, store, askPeers, role, apiUrl: `${this.address().api}/${dialect}` });
    const api = createApiServer({
      operations: createOperations(manager.member),
      name: this.name,
      scope: options.store.scope,
      dialect,
      version: MANAGER_VERSION,
      onError: (error) => manager.member.warn(`the API failed: ${String(error)}`),
    });
    await api.listen(this.server.host, apiPort).catch((cause: unknown) => {
      throw new Error(`the API of ${this.name} cannot listen: ${messageOf(cause)}`, { cause });
    });
    this.#running = { manager, api };
    await manager.start();
  }

  /** Undefined when the member did not answer. */
  async look(deadlineMs: number): Promise<MemberView | undefined> {
    if (this.#faults.has('manager frozen')) return undefined;
    return this.#running?.manager.member.look(deadlineMs);
  }

  async kill(): Promise<void> {
    await this.end();
    await this.#join();
    await this.#hasten();
    this.#faults.clear();
    this.#faults.add('killed');
  }

  async freezeManager(): Promise<void> {
    this.#mustRun();
    this.#faults.add('manager frozen');
    this.#running?.api.freeze();
    await this.#running?.manager.freeze();
  }

  async freezePostgres(): Promise<void> {
    this.#mustRun();
    this.#faults.add('postgres frozen');
    await this.server.freeze();
  }

  async crashPostgres(): Promise<void> {
    this.#mustRun();
    // A frozen server dies too, and the next one is not frozen.
    this.#faults.delete('postgres frozen');
    await this.server.kill();
  }

  async pauseReplay(): Promise<void> {
    this.#mustRun();
    await this.server.query('select pg_wal_replay_pause()');
    this.#faults.add('replay paused');
  }

  /** From the other members and the store. Streams in both directions end; clients still reach it. */
  async cutOff(): Promise<void> {
    this.#mustRun();
    this.#faults.add('cut off');
    this.#setup.network.cut(this.name);
    await this.#running?.manager.member.instance.follow(undefined);
    await this.server.cutStreams(true);
  }

  /** Its API answers so much later; as a standby it applies WAL so much later. */
  async slow(ms: number): Promise<void> {
    this.#mustRun();
    this.#faults.add('slow');
    this.#running?.api.slow(ms);
    await this.server.delayReplay(ms);
  }

  async heal(): Promise<void> {
    if (this.#faults.delete('cut off')) await this.#join();
    if (this.#faults.delete('slow')) await this.#hasten();
    if (this.#faults.delete('killed')) await this.bringUp('replica');
    if (this.#faults.delete('postgres frozen')) await this.server.thaw();
    if (this.#faults.delete('replay paused') && this.server.isAlive()) {
      // It may have been promoted or restarted by now, which also ends a pause.
      await this.server.query('select pg_wal_replay_resume() where pg_is_in_recovery()').catch(() => {});
    }
    if (this.#faults.delete('manager frozen')) {
      this.#running?.manager.thaw();
      this.#running?.api.thaw();
    }
  }

  /** Ends all its processes at once. Idempotent. */
  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.manager.abandon();
    await Promise.all([running?.api.close(), this.server.kill()]);
    await running?.manager.close();
  }

  async #join(): Promise<void> {
    await this.server.cutStreams(false);
    this.#setup.network.join(this.name);
  }

  async #hasten(): Promise<void> {
    this.#running?.api.slow(0);
    await this.server.delayReplay(0);
  }

  #mustRun(): void {
    if (this.#running === undefined) throw new Error(`${this.name} is dead: heal it first`);
  }
}

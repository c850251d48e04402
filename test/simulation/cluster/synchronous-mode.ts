// Synchronous mode: the leader names one standby in the store, and its commits wait for it. Every member that may lead
// next by the store's word then has every commit that was confirmed.
import type { PostgresServer } from '../postgres/server.ts';
import { chooseSynchronous } from './election.ts';
import type { StoreClient } from './store-service.ts';
import type { ClusterConfig, StoreView } from './store.ts';

/** Any standby, but at least one. */
const ANY = ['*'];

export class SynchronousMode {
  readonly #name: string;
  readonly #server: PostgresServer;
  readonly #store: StoreClient;

  constructor(name: string, server: PostgresServer, store: StoreClient) {
    this.#name = name;
    this.#server = server;
    this.#store = store;
  }

  /** Before the promotion. False: the store did not take it, so there must be no promotion. */
  async begin(config: ClusterConfig, deadlineMs: number): Promise<boolean> {
    if (config.synchronous_mode !== true) return true;
    if (!(await this.#tell(undefined, deadlineMs))) return false;
    this.#server.requireStandbys(config.synchronous_mode_strict === true ? ANY : []);
    return true;
  }

  /**
   * A new standby has everything before the store names it, and the store no longer names the old one before commits do
   * without it.
   */
  async adjust({ config, sync, members }: StoreView, deadlineMs: number): Promise<void> {
    const server = this.#server;
    if (config.synchronous_mode !== true) return server.requireStandbys([]);
    const streaming = server.standbys().map((one) => ({ name: one.standby, flushed: one.flushed() }));
    const present = sync?.leader === this.#name ? sync.standby : undefined;
    const standby = chooseSynchronous(present, streaming, members);
    if (present !== standby || sync?.leader !== this.#name) {
      if (!(await this.#tell(undefined, deadlineMs))) return undefined;
    }
    if (standby === undefined) return server.requireStandbys(config.synchronous_mode_strict === true ? ANY : []);
    server.requireStandbys([standby]);
    if (present !== standby && server.hasAll(standby)) await this.#tell(standby, deadlineMs);
    return undefined;
  }

  async #tell(standby: string | undefined, deadlineMs: number): Promise<boolean> {
    return (await this.#store.synchronize(this.#name, { leader: this.#name, standby }, deadlineMs)) === true;
  }
}

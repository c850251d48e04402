// The tasks of a manager with its PostgreSQL, one at a time, as its API shows them: stopping, starting, rewinding. The
// loop of the manager goes on meanwhile.
import type { Program } from '../postgres/program.ts';
import type { PostgresServer } from '../postgres/server.ts';

export class ServerControl {
  readonly #server: PostgresServer;
  readonly #program: Program;
  readonly #onIdle: () => void;
  /** For the API, when PostgreSQL cannot be asked. */
  role = 'replica';
  #task: string | undefined;

  constructor(server: PostgresServer, program: Program, onIdle: () => void) {
    this.#server = server;
    this.#program = program;
    this.#onIdle = onIdle;
  }

  /** Undefined: there is none. */
  task(): string | undefined {
    return this.#task;
  }

  async during(task: string, work: () => Promise<void>): Promise<void> {
    this.#task = task;
    await work();
    await this.#program.turn();
    this.#task = undefined;
    this.#onIdle();
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.stop(resolve);
    await promise;
    if (this.#task === 'stopping') this.#task = 'stopped';
    await this.#program.turn();
  }

  async start(asPrimary: boolean): Promise<void> {
    if (!this.isDown()) return;
    if (this.#task !== 'restarting') this.#task = 'starting';
    this.role = asPrimary ? 'primary' : 'replica';
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.start(asPrimary, resolve);
    await promise;
    await this.#program.turn();
  }

  async restart(): Promise<void> {
    const isPrimary = !this.#server.isInRecovery();
    await this.during('restarting', async () => {
      await this.stop();
      await this.start(isPrimary);
    });
  }

  /** pg_rewind, or a base backup where that fails. `source`: undefined: it cannot be reached. */
  async rewind(source: PostgresServer | undefined, ms: number): Promise<void> {
    await this.during('stopped', async () => {
      await this.stop();
      await this.#program.pause(ms);
      if (source !== undefined && source.state() === 'primary' && this.isDown()) this.#server.copyFrom(source);
      await this.start(false);
    });
  }

  isDown(): boolean {
    const state = this.#server.state();
    return state === 'stopped' || state === 'crashed';
  }
}

// A running sandbox: its members, the faults that are made on them, and its end. Each fault is a method for one member.
// The store's outage concerns no member alone.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { BranchLab } from './branches/start-branches.ts';
import type { ClusterMember } from './cluster-member.ts';
import { whyUnhealthy } from './health.ts';
import { readSettings } from './manager/cluster-settings.ts';
import type { Store } from './manager/store.ts';
import type { Tags } from './manager/view.ts';
import type { RunningPlatform } from './platform/start-platform.ts';
import type { PreparedServers } from './postgres/prepare.ts';
import type { PostgresServer } from './postgres/server-interface.ts';
import type { Sandbox, SandboxMember, SandboxMoves } from './sandbox.ts';

export interface RunningSandboxOptions {
  readonly directory: string;
  readonly app: Sandbox['app'];
  readonly store: Store;
  readonly prepared: PreparedServers;
}

const LOOK_WITHIN_MS = 1_000;

export class RunningSandbox implements Sandbox {
  readonly scope: string;
  readonly directory: string;
  readonly app: Sandbox['app'];
  readonly superuser: Sandbox['superuser'];
  /** Ordered by name. */
  readonly machines: ClusterMember[] = [];
  branches: BranchLab | undefined;
  platform: RunningPlatform | undefined;
  moves: SandboxMoves | undefined;
  readonly #options: RunningSandboxOptions;
  #stopping: Promise<void> | undefined;

  constructor(options: RunningSandboxOptions) {
    this.#options = options;
    this.scope = options.store.scope;
    this.directory = options.directory;
    this.app = options.app;
    this.superuser = options.prepared.superuser;
  }

  get members(): readonly SandboxMember[] {
    return this.machines.map((member) => member.address());
  }

  leader(): SandboxMember | undefined {
    const holder = this.#options.store.holder();
    return this.members.find(({ name }) => name === holder);
  }

  /** The server of the leader, while it runs. */
  primary(): PostgresServer | undefined {
    const holder = this.#options.store.holder();
    return this.machines.find(({ name, server }) => name === holder && server.isAlive())?.server;
  }

  faulty(): readonly string[] {
    return this.machines.filter((member) => member.faults().length > 0).map(({ name }) => name);
  }

  async isHealthy(): Promise<boolean> {
    return (await this.whyUnhealthy()) === undefined;
  }

  /** The first problem found. */
  async whyUnhealthy(): Promise<string | undefined> {
    const config = this.#options.store.read()?.config;
    if (config === undefined) return 'the store does not answer';
    const living = this.machines.filter((member) => !member.isKilled());
    const views = await Promise.all(living.map((member) => member.look(LOOK_WITHIN_MS)));
    return whyUnhealthy(views, readSettings(config).standbyCluster !== undefined);
  }

  async kill(member: string): Promise<void> {
    await this.#member(member).kill();
  }

  async freezeManager(member: string): Promise<void> {
    await this.#member(member).freezeManager();
  }

  async freezePostgres(member: string): Promise<void> {
    await this.#member(member).freezePostgres();
  }

  async crashPostgres(member: string): Promise<void> {
    await this.#member(member).crashPostgres();
  }

  async pauseReplay(member: string): Promise<void> {
    await this.#member(member).pauseReplay();
  }

  async partition(member: string): Promise<void> {
    await this.#member(member).cutOff();
  }

  async slow(member: string, ms: number): Promise<void> {
    await this.#member(member).slow(ms);
  }

  async setTags(member: string, tags: Tags): Promise<void> {
    await writeFile(join(this.directory, `${this.#member(member).name}.yml`), stringify({ tags }));
  }

  setStoreOutage(isDown: boolean): void {
    this.#options.store.setOutage(isDown);
  }

  async heal(member?: string): Promise<void> {
    if (member !== undefined) return this.#member(member).heal();
    this.setStoreOutage(false);
    await Promise.all(this.machines.map((one) => one.heal()));
  }

  isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const { store, prepared, directory } = this.#options;
    store.close();
    await Promise.all([this.branches?.close(), this.platform?.close()]);
    await Promise.all(this.machines.map((member) => member.end()));
    await prepared.close();
    await rm(directory, { recursive: true, force: true });
  }

  #member(name: string): ClusterMember {
    const member = this.machines.find((one) => one.name === name);
    if (member === undefined) {
      throw new Error(`there is no member ${name}, only ${this.machines.map((one) => one.name).join(', ')}`);
    }
    return member;
  }
}

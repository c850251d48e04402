// A running sandbox: its members, the faults that are made on them, and its end. Each fault is a method for one member.
// The store's outage concerns no member alone.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startBranches } from './branches/start-branches.ts';
import type { BranchLab } from './branches/start-branches.ts';
import type { ClusterMember } from './cluster-member.ts';
import { whyUnhealthy } from './health.ts';
import type { ManagerEvent } from './manager/manager.ts';
import { readSettings } from './manager/cluster-settings.ts';
import type { Store } from './manager/store.ts';
import type { Tags } from './manager/view.ts';
import { setUpMoves } from './moves-role.ts';
import { startPlatform } from './platform/start-platform.ts';
import type { RunningPlatform } from './platform/start-platform.ts';
import type { PreparedServers } from './postgres/prepare.ts';
import type { PostgresServer } from './postgres/server-interface.ts';
import type {
  Sandbox,
  SandboxBranches,
  SandboxEvent,
  SandboxMember,
  SandboxMoves,
  SandboxPlatform,
} from './sandbox.ts';

export interface RunningSandboxOptions {
  readonly directory: string;
  readonly app: Sandbox['app'];
  readonly store: Store;
  readonly prepared: PreparedServers;
  readonly onEvent: (event: SandboxEvent) => void;
}

const LOOK_WITHIN_MS = 1_000;

export class RunningSandbox implements Sandbox {
  readonly scope: string;
  readonly directory: string;
  readonly app: Sandbox['app'];
  readonly superuser: Sandbox['superuser'];
  readonly #options: RunningSandboxOptions;
  readonly #members: ClusterMember[] = [];
  #branches: BranchLab | undefined;
  #platform: RunningPlatform | undefined;
  #moves: SandboxMoves | undefined;
  #told: string | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: RunningSandboxOptions) {
    this.#options = options;
    this.scope = options.store.scope;
    this.directory = options.directory;
    this.app = options.app;
    this.superuser = options.prepared.superuser;
    options.store.watch(() => {
      if (options.store.holder() === undefined) this.#tellLeader(undefined, undefined);
    });
  }

  get members(): readonly SandboxMember[] {
    return this.#members.map((member) => member.address());
  }

  /** Ordered by name. */
  all(): readonly ClusterMember[] {
    return this.#members;
  }

  add(member: ClusterMember): void {
    this.#members.push(member);
  }

  readonly onManagerEvent = (event: ManagerEvent): void => {
    if (event.kind === 'leads') this.#tellLeader(event.member, event.timeline);
    else this.#tell(event);
  };

  leader(): SandboxMember | undefined {
    const holder = this.#options.store.holder();
    return this.members.find(({ name }) => name === holder);
  }

  faulty(): readonly string[] {
    return this.#members.filter((member) => member.faults().length > 0).map(({ name }) => name);
  }

  async isHealthy(): Promise<boolean> {
    return (await this.whyUnhealthy()) === undefined;
  }

  /** The first problem found. */
  async whyUnhealthy(): Promise<string | undefined> {
    const config = this.#options.store.read()?.config;
    if (config === undefined) return 'the store does not answer';
    const living = this.#members.filter((member) => !member.isKilled());
    const views = await Promise.all(living.map((member) => member.look(LOOK_WITHIN_MS)));
    return whyUnhealthy(views, readSettings(config).standbyCluster !== undefined);
  }

  /** An ordinary role with its own database. */
  async createApp(server: PostgresServer): Promise<void> {
    const { user, password, database } = this.app;
    await server.query(`create role ${user} login password '${password}'`);
    await server.query(`create database ${database} owner ${user}`, [], 20_000);
  }

  get moves(): SandboxMoves | undefined {
    return this.#moves;
  }

  /** After `createApp`. */
  async setUpMoves(server: PostgresServer): Promise<void> {
    this.#moves = await setUpMoves(server, this.app.user, this.directory);
  }

  get branches(): SandboxBranches | undefined {
    return this.#branches;
  }

  /** The cluster has a primary. */
  async serveBranches(): Promise<void> {
    const { directory, prepared, store, onEvent } = this.#options;
    const primary = (): PostgresServer | undefined =>
      this.#members.find(({ name, server }) => name === store.holder() && server.isAlive())?.server;
    this.#branches = await startBranches({ directory, prepared, primary, onEvent });
  }

  get platform(): SandboxPlatform | undefined {
    return this.#platform;
  }

  async servePlatform(): Promise<void> {
    this.#platform = await startPlatform(join(this.directory, 'platform'), this.#options.onEvent);
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
    await Promise.all(this.#members.map((one) => one.heal()));
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const { store, prepared, directory } = this.#options;
    store.close();
    await Promise.all([this.#branches?.close(), this.#platform?.close()]);
    await Promise.all(this.#members.map((member) => member.end()));
    await prepared.close();
    await rm(directory, { recursive: true, force: true });
  }

  #member(name: string): ClusterMember {
    const member = this.#members.find((one) => one.name === name);
    if (member === undefined) {
      throw new Error(`there is no member ${name}, only ${this.#members.map((one) => one.name).join(', ')}`);
    }
    return member;
  }

  #tellLeader(leader: string | undefined, timeline: number | undefined): void {
    const told = JSON.stringify([leader, timeline]);
    if (this.#told === told) return;
    this.#told = told;
    this.#tell({ kind: 'leader_changed', leader, timeline });
  }

  #tell(event: SandboxEvent): void {
    if (this.#stopping === undefined) this.#options.onEvent(event);
  }
}

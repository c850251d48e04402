// A running sandbox: its members, the faults that are made on them, and its end. Each fault is one of its member's. The
// store's outage concerns no member alone.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { BranchLab } from './branches/start-branches.ts';
import type { ClusterMember } from './cluster-member.ts';
import { whyUnhealthy } from './health.ts';
import { readSettings } from './manager/cluster-settings.ts';
import type { Store } from './manager/store.ts';
import type { RunningPlatform } from './platform/start-platform.ts';
import type { PreparedServers } from './postgres/prepare.ts';
import type { PostgresServer } from './postgres/postgres-server.ts';
import type { Sandbox, SandboxLookup, SandboxQuestions } from './sandbox.ts';

export interface RunningSandboxOptions {
  readonly directory: string;
  readonly app: Sandbox['app'];
  readonly store: Store;
  readonly prepared: PreparedServers;
}

const LOOK_WITHIN_MS = 1_000;

export interface RunningSandbox extends Sandbox {
  /** Ordered by name. */
  readonly machines: ClusterMember[];
  branches: BranchLab | undefined;
  platform: RunningPlatform | undefined;
  lookup: SandboxLookup | undefined;
  questions: SandboxQuestions | undefined;
  /** The server of the leader, while it runs. */
  primary(): PostgresServer | undefined;
  /** The first problem found. */
  whyUnhealthy(): Promise<string | undefined>;
  isStopping(): boolean;
}

/** Without machines, branches, platform and roles: they come as they start. */
export function createSandbox({ directory, app, store, prepared }: RunningSandboxOptions): RunningSandbox {
  const { certificates } = prepared;
  const machines: ClusterMember[] = [];
  let stopping: Promise<void> | undefined;

  function machine(name: string): ClusterMember {
    const found = machines.find((one) => one.name === name);
    if (found !== undefined) return found;
    throw new Error(`there is no member ${name}, only ${machines.map((one) => one.name).join(', ')}`);
  }

  async function end(): Promise<void> {
    store.close();
    await Promise.all([sandbox.branches?.close(), sandbox.platform?.close()]);
    await Promise.all(machines.map((member) => member.end()));
    await prepared.close();
    await rm(directory, { recursive: true, force: true });
  }

  const sandbox: RunningSandbox = {
    scope: store.scope,
    directory,
    app,
    superuser: prepared.superuser,
    machines,
    branches: undefined,
    platform: undefined,
    lookup: undefined,
    questions: undefined,
    tls: certificates && { caFile: certificates.authority.file, ...certificates.pointsman },
    get members() {
      return machines.map((member) => member.address());
    },
    leader: () => sandbox.members.find(({ name }) => name === store.holder()),
    primary: () => machines.find(({ name, server }) => name === store.holder() && server.isAlive())?.server,
    faulty: () => machines.filter((member) => member.faults().length > 0).map(({ name }) => name),
    isHealthy: async () => (await sandbox.whyUnhealthy()) === undefined,
    async whyUnhealthy() {
      const config = store.read()?.config;
      if (config === undefined) return 'the store does not answer';
      const living = machines.filter((member) => !member.faults().includes('killed'));
      const views = await Promise.all(living.map((member) => member.look(LOOK_WITHIN_MS)));
      return whyUnhealthy(views, readSettings(config).standbyCluster !== undefined);
    },
    kill: async (member) => machine(member).kill(),
    freezeManager: async (member) => machine(member).freezeManager(),
    freezePostgres: async (member) => machine(member).freezePostgres(),
    crashPostgres: async (member) => machine(member).crashPostgres(),
    pauseReplay: async (member) => machine(member).pauseReplay(),
    partition: async (member) => machine(member).cutOff(),
    slow: async (member, ms) => machine(member).slow(ms),
    setTags: async (member, tags) => writeFile(join(directory, `${machine(member).name}.yml`), stringify({ tags })),
    setStoreOutage: (isDown) => store.setOutage(isDown),
    async heal(member) {
      if (member !== undefined) return machine(member).heal();
      store.setOutage(false);
      await Promise.all(machines.map((one) => one.heal()));
    },
    isStopping: () => stopping !== undefined,
    stop: () => (stopping ??= end()),
  };
  return sandbox;
}

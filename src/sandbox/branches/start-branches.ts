// The sandbox's storage node and console: both APIs over the branches of its cluster.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import type { PreparedServers } from '../postgres/prepare.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { BranchPlace, SandboxBranches, SandboxEvent } from '../sandbox.ts';
import { Root } from './ancestor.ts';
import { consoleApi } from './console-api.ts';
import { serveHttp } from '../http-server.ts';
import { Project } from './project.ts';
import { storageApi } from './storage-api.ts';
import { Tenant } from './tenant.ts';
import { WalKeeper } from './wal-keeper.ts';

/** In the sandbox's directory: finished WAL files of all members. */
export const WAL_ARCHIVE = 'wal';
const CHECK_WAL_MS = 5_000;

export interface BranchLabOptions {
  readonly directory: string;
  readonly prepared: PreparedServers;
  readonly primary: () => PostgresServer | undefined;
  readonly onEvent: (event: SandboxEvent) => void;
}

export interface BranchLab extends SandboxBranches {
  /** Closes both APIs and ends the creations in progress. The servers end with those of the members. */
  close(): Promise<void>;
}

/** Rejects when the cluster cannot be copied. */
export async function startBranches(options: BranchLabOptions): Promise<BranchLab> {
  const { directory, prepared, onEvent } = options;
  const archive = join(directory, WAL_ARCHIVE);
  const root = new Root(newId(), archive, options.primary);
  const { superuser, owner } = prepared;
  const keeper = new WalKeeper({ root, directory, archive, superuser, owner, uses: () => tenant.uses() });
  await keeper.takeCopy();
  let isEnding = false;
  const first = root.primary();
  const atRoot = (id: string): BranchPlace => placeOf(id, options.primary() ?? first);
  const listeners = new Set<() => Promise<void>>();
  const tenant = new Tenant({
    id: newId(),
    root,
    prepared,
    onChange: async () => void (await Promise.all([...listeners].map((listener) => listener()))),
    onEvent: (kind, text) => {
      if (!isEnding) onEvent({ kind, text });
    },
  });
  const project = new Project(tenant);
  const apiKey = randomBytes(24).toString('base64url');
  const apiKeyFile = join(directory, 'console-api-key');
  await writeFile(apiKeyFile, `${apiKey}\n`, { mode: 0o600 });
  const onError = (error: unknown): void =>
    onEvent({ kind: 'warning', text: `the branch API failed: ${String(error)}` });
  const pgMajor = Number.parseInt(prepared.version, 10);
  const storage = await serveHttp(storageApi({ tenant, pgMajor }), onError);
  const console = await serveHttp(consoleApi(project, apiKey), onError);
  const timer = setInterval(() => void keeper.check(), CHECK_WAL_MS);
  return {
    storageUrl: storage.url,
    consoleUrl: console.url,
    tenant: tenant.id,
    rootTimeline: root.id,
    project: project.id,
    apiKeyFile,
    namesFile: join(directory, 'branch-names.json'),
    pgMajor,
    timelines: () => [atRoot(root.id), ...tenant.list().map(({ branch }) => placeOf(branch.id, branch.server))],
    projectBranches: () =>
      project
        .list()
        .flatMap((branch) =>
          branch.timelineId === root.id
            ? [atRoot(branch.id)]
            : placesOf(branch.id, project.serverOf(branch, 'read_write')),
        ),
    projectReaders: () =>
      project.list().flatMap((branch) => placesOf(branch.id, project.serverOf(branch, 'read_only'))),
    onChange: (listener) => void listeners.add(listener),
    async close() {
      isEnding = true;
      clearInterval(timer);
      await Promise.all([storage.close(), console.close(), keeper.close()]);
      await tenant.close();
    },
  };
}

function newId(): string {
  return randomBytes(16).toString('hex');
}

function placesOf(id: string, server: PostgresServer | undefined): readonly BranchPlace[] {
  return server === undefined ? [] : [placeOf(id, server)];
}

function placeOf(id: string, { host, port }: PostgresServer): BranchPlace {
  return { id, host, port };
}

// The sandbox's storage node and console: both APIs over the branches of its cluster.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { takeFreePort } from '../postgres/free-ports.ts';
import type { PreparedServers } from '../postgres/prepare.ts';
import type { PostgresServer } from '../postgres/server.ts';
import type { BranchPlace, SandboxBranches, SandboxEvent } from '../sandbox.ts';
import { Root } from './ancestor.ts';
import { takeBaseCopy } from './base-copy.ts';
import { consoleApi } from './console-api.ts';
import { serveHttp } from './http-server.ts';
import { Project } from './project.ts';
import { storageApi } from './storage-api.ts';
import { Tenant } from './tenant.ts';

/** In the sandbox's directory: finished WAL files of all members. */
export const WAL_ARCHIVE = 'wal';

export interface BranchesOptions {
  readonly directory: string;
  readonly prepared: PreparedServers;
  readonly primary: () => PostgresServer | undefined;
  readonly onEvent: (event: SandboxEvent) => void;
}

export interface RunningBranches extends SandboxBranches {
  /** Closes both APIs and ends the creations in progress. The servers end with those of the members. */
  close(): Promise<void>;
}

/** Rejects when the cluster cannot be copied. */
export async function startBranches(options: BranchesOptions): Promise<RunningBranches> {
  const { directory, prepared, onEvent } = options;
  const root = new Root(newId(), join(directory, WAL_ARCHIVE), options.primary);
  const ending = new AbortController();
  const copy = join(directory, 'base-1');
  const { superuser, owner } = prepared;
  root.addCopy(
    await takeBaseCopy({ server: root.primary(), directory: copy, superuser, owner, signal: ending.signal }),
  );
  const first = root.primary();
  const atRoot = (id: string): BranchPlace => placeOf(id, options.primary() ?? first);
  const listeners = new Set<() => Promise<void>>();
  const tenant = new Tenant({
    id: newId(),
    root,
    prepared,
    onChange: async () => void (await Promise.all([...listeners].map((listener) => listener()))),
    onEvent: (kind, text) => {
      if (!ending.signal.aborted) onEvent({ kind, text });
    },
  });
  const project = new Project(tenant);
  const apiKey = randomBytes(24).toString('base64url');
  const apiKeyFile = join(directory, 'console-api-key');
  await writeFile(apiKeyFile, `${apiKey}\n`, { mode: 0o600 });
  const onError = (error: unknown): void =>
    onEvent({ kind: 'warning', text: `the branch API failed: ${String(error)}` });
  const pgMajor = Number.parseInt(prepared.version, 10);
  const storage = await serveHttp(await takeFreePort(), storageApi({ tenant, pgMajor }), onError);
  const console = await serveHttp(await takeFreePort(), consoleApi({ project, apiKey }), onError);
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
      project.list().flatMap((branch) => {
        if (branch.timelineId === root.id) return [atRoot(branch.id)];
        const server = project.serverOf(branch, 'read_write');
        return server === undefined ? [] : [placeOf(branch.id, server)];
      }),
    onChange: (listener) => void listeners.add(listener),
    async close() {
      ending.abort();
      await Promise.all([storage.close(), console.close()]);
      await tenant.close();
    },
  };
}

function newId(): string {
  return randomBytes(16).toString('hex');
}

function placeOf(id: string, { host, port }: PostgresServer): BranchPlace {
  return { id, host, port };
}

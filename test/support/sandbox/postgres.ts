// Real PostgreSQL servers for one test: prepared in a directory of their own, gone with the test.
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { findBinaries } from '../../../src/sandbox/postgres/binaries.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { readPostmasterFile } from '../../../src/sandbox/postgres/postmaster-file.ts';
import { preparePostgres } from '../../../src/sandbox/postgres/prepare.ts';
import type { PreparedServers } from '../../../src/sandbox/postgres/prepare.ts';
import type { PostgresServer } from '../../../src/sandbox/postgres/postgres-server.ts';
import type { Upstream } from '../../../src/sandbox/postgres/server-types.ts';
import { fromKept } from './kept-cluster.ts';
import { waitUntil } from '../waiting/wait.ts';

export interface TestServers extends PreparedServers {
  readonly directory: string;
  /** By position; fails when it is not there. */
  server(at: number): PostgresServer;
}

export async function prepareServers(count: number, postgres: BinariesChoice = 'embedded'): Promise<TestServers> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  const names = Array.from({ length: count }, (_, at) => `node-${at + 1}`);
  const prepared = await preparePostgres({ directory, names, postgres, initialize: fromKept });
  onTestFinished(() => prepared.close());
  const server = (at: number): PostgresServer => {
    const found = prepared.servers[at];
    if (found === undefined) throw new Error(`no server ${at}`);
    return found;
  };
  return { ...prepared, directory, server };
}

/** Those that this machine has; the embedded one must be there. */
export async function choicesHere(): Promise<readonly BinariesChoice[]> {
  const system = await findBinaries('system');
  return system.kind === 'found' ? ['embedded', 'system'] : ['embedded'];
}

export function addressOf({ host, port }: PostgresServer): Upstream {
  return { host, port };
}

/** The primary runs, the others stream from it. */
export async function startReplication(primary: PostgresServer, ...standbys: readonly PostgresServer[]): Promise<void> {
  await startAs(primary, undefined);
  for (const standby of standbys) await startAs(standby, primary);
}

/** Without an upstream it is the primary. */
export async function startAs(server: PostgresServer, upstream: PostgresServer | undefined): Promise<void> {
  const role =
    upstream === undefined
      ? ({ kind: 'primary' } as const)
      : ({ kind: 'standby', upstream: addressOf(upstream) } as const);
  const outcome = await server.start(role, {});
  if (outcome.kind !== 'started') throw new Error(`${server.name}: ${outcome.reason}\n${outcome.log}`);
}

export async function untilStreaming(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  await waitUntil(
    `${standby.name} streams from ${primary.name}`,
    async () => {
      const rows = await primary.query(
        "select 1 from pg_stat_replication where application_name = $1 and state = 'streaming'",
        [standby.name],
      );
      return rows.length === 1;
    },
    { timeoutMs: 10_000 },
  );
}

/** One value as text. */
export async function ask(server: PostgresServer, statement: string): Promise<string | undefined> {
  const [row] = await server.query(statement);
  return row === undefined ? undefined : String(Object.values(row)[0]);
}

export async function untilAnswer(server: PostgresServer, statement: string, answer: string): Promise<void> {
  await waitUntil(
    `${server.name}: ${statement} gives ${answer}`,
    async () => (await ask(server, statement)) === answer,
    {
      timeoutMs: 10_000,
    },
  );
}

/** Ids of the machine's System V shared memory segments. */
export async function sharedMemory(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ipcs', ['-m']);
  return stdout.split('\n').flatMap((line) => line.split(/\s+/)[1] ?? []);
}

/** The one that a running server has. */
export async function sharedMemoryOf({ dataDirectory }: Pick<PostgresServer, 'dataDirectory'>): Promise<string> {
  const id = (await readPostmasterFile(dataDirectory))?.sharedMemoryId;
  if (id === undefined) throw new Error(`${dataDirectory}: no running server`);
  return String(id);
}

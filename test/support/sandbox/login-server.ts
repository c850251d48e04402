// One real server for a test file, whose pg_hba.conf the test chooses.
import { readFile, writeFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { preparePostgres } from '../../../src/sandbox/postgres/prepare.ts';
import type { PostgresServer } from '../../../src/sandbox/postgres/postgres-server.ts';
import { fromKept } from './kept-cluster.ts';
import { startAs } from './postgres.ts';

export interface LoginServer {
  readonly server: PostgresServer;
  /** One statement after the other, as superuser. */
  run(...statements: readonly string[]): Promise<void>;
  /** These lines come before those of the sandbox. */
  permit(...lines: readonly string[]): Promise<void>;
  /** The authority of its certificate; undefined without TLS. */
  readonly caFile: string | undefined;
  close(): Promise<void>;
}

/** `tls`: its own lines of pg_hba.conf are for clients with TLS. */
export async function startLoginServer(choice: BinariesChoice, tls = false): Promise<LoginServer> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  const prepared = await preparePostgres({ directory, names: ['node-1'], postgres: choice, tls, initialize: fromKept });
  const [server] = prepared.servers;
  if (server === undefined) throw new Error('no server');
  await startAs(server, undefined);
  const file = join(server.dataDirectory, 'pg_hba.conf');
  const own = await readFile(file, 'utf8');
  return {
    server,
    run: async (...statements) => {
      for (const statement of statements) await server.query(statement, [], 20_000);
    },
    permit: async (...lines) => {
      await writeFile(file, `${lines.join('\n')}\n${own}`);
      await server.query('select pg_reload_conf()');
    },
    caFile: prepared.certificates?.authority.file,
    close: () => prepared.close(),
  };
}

// A real PostgreSQL on loopback: the system's, or otherwise the sandbox's. It trusts every local user while it runs,
// because the benchmark measures only the path to it. With TLS it is the sandbox's, and wants passwords.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../../src/sandbox/postgres/binaries.ts';
import { preparePostgres } from '../../../src/sandbox/postgres/prepare.ts';
import { findPostgresBinDir } from '../../support/patroni/availability.ts';
import { run, type Start } from './child.ts';

const PARAMETERS = {
  max_connections: '300',
  shared_buffers: '256MB',
  synchronous_commit: 'off',
  max_wal_size: '4GB',
  autovacuum: 'off',
};

const TAKEN_WITHIN_MS = 10_000;

export interface Postgres extends AsyncDisposable {
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string;
  /** A PEM file. Undefined: without TLS. */
  readonly authority: string | undefined;
}

/** `tls`: it takes TLS, direct too, and plain text, both with SCRAM. */
export async function startPostgres({ tls = false } = {}): Promise<Postgres> {
  const system = await findBinaries('system');
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-bench-'));
  const prepared = await preparePostgres({
    directory,
    names: ['bench'],
    postgres: system.kind === 'found' && !tls ? 'system' : 'embedded',
    tls,
  });
  const [server] = prepared.servers;
  if (server === undefined) throw new Error('no server');
  const postgres: Postgres = {
    port: server.port,
    user: prepared.superuser.user,
    password: prepared.superuser.password,
    database: 'postgres',
    authority: prepared.certificates?.authority.file,
    [Symbol.asyncDispose]: () => prepared.close(),
  };
  try {
    const outcome = await server.start({ kind: 'primary' }, PARAMETERS);
    if (outcome.kind === 'failed') throw new Error(`PostgreSQL did not start: ${outcome.log}`);
    // The start writes this file, so ours comes after it, with a reload.
    const method = tls ? 'scram-sha-256' : 'trust';
    writeFileSync(join(server.dataDirectory, 'pg_hba.conf'), `host all all 127.0.0.0/8 ${method}\n`);
    await server.configure(PARAMETERS);
    await whenTaken(postgres);
    return postgres;
  } catch (error) {
    await prepared.close();
    throw error;
  }
}

/** A reload takes effect a little later. */
async function whenTaken(postgres: Postgres): Promise<void> {
  const login = clientOf(postgres, 'psql', postgres.port, ['-qwc', 'select 1']);
  const deadline = performance.now() + TAKEN_WITHIN_MS;
  for (;;) {
    try {
      await run(login);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

/** The start of one of PostgreSQL's client programs against a port. */
export function clientOf(
  { user, database, password }: Postgres,
  name: 'psql' | 'pgbench',
  port: number,
  args: readonly string[],
): Start {
  const directory = findPostgresBinDir(name);
  if (directory === undefined) throw new Error(`${name} is missing: apt-get install postgresql`);
  const env = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: user, PGDATABASE: database, PGSSLMODE: 'disable' };
  return { command: join(directory, name), args, env: { ...env, PGPASSWORD: password, PGGSSENCMODE: 'disable' } };
}

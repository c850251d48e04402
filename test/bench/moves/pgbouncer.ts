// PgBouncer in transaction mode behind HAProxy, which knows the primary: the usual way to keep clients through a
// switchover. It shares server connections, so a client's session state is not its own.
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findFreePorts } from '../../support/sockets/free-ports.ts';
import type { Credentials } from '../../support/patroni/settings.ts';
import { Child, whenListening } from '../data-path/child.ts';
import { findPgbouncer } from '../data-path/peers/pgbouncer.ts';

const POOL = 64;
const CLIENTS = 500;

export interface RunningPgbouncer {
  readonly port: number;
  /** `PAUSE` waits for running transactions, and holds the next ones. `RESUME` ends that. */
  command(text: 'PAUSE' | 'RESUME'): Promise<void>;
  stop(): Promise<void>;
}

function found(): string {
  const pgbouncer = findPgbouncer();
  if (pgbouncer === undefined) throw new Error('PgBouncer is not installed: apt-get install pgbouncer');
  return pgbouncer;
}

export async function pgbouncerVersion(): Promise<string> {
  const { stdout } = await promisify(execFile)(found(), ['--version']);
  return stdout.split('\n', 1)[0] ?? '';
}

export async function runPgbouncer(behind: number, as: Credentials): Promise<RunningPgbouncer> {
  const pgbouncer = found();
  const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-pgbouncer-'));
  const [file, users] = [join(directory, 'pgbouncer.ini'), join(directory, 'users')];
  writeFileSync(users, ['admin', as.user].map((name) => `"${name}" ""\n`).join(''));
  const lines = [
    '[databases]',
    `${as.database} = host=127.0.0.1 port=${behind} user=${as.user} password=${as.password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'pool_mode = transaction',
    'auth_type = trust',
    `auth_file = ${users}`,
    'admin_users = admin',
    `max_client_conn = ${CLIENTS}`,
    `default_pool_size = ${POOL}`,
    'server_login_retry = 1',
    'ignore_startup_parameters = extra_float_digits, options',
    '',
  ];
  writeFileSync(file, lines.join('\n'));
  // PgBouncer refuses to run as root, and its own user needs access.
  chmodSync(directory, 0o755);
  const child = new Child({ command: pgbouncer, args: ['-q', file], isUnprivileged: true });
  await whenListening(port);
  return {
    port,
    async command(text) {
      const client = new Client({ host: '127.0.0.1', port, user: 'admin', database: 'pgbouncer' });
      await client.connect();
      try {
        await client.query(text);
      } finally {
        await client.end();
      }
    },
    async stop() {
      await child[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

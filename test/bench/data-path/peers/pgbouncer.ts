// PgBouncer in session mode, with one server connection per client: the mode in which its work is comparable.
import { chmodSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable } from '../../../support/patroni/availability.ts';
import { findFreePorts } from '../../../support/sockets/free-ports.ts';
import { Child, whenListening } from '../child.ts';
import type { Peer, Surroundings } from './peer.ts';

function configuration(port: number, backendPort: number, user: string): string {
  return [
    '[databases]',
    `* = host=127.0.0.1 port=${backendPort} user=${user}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'listen_backlog = 4096',
    'unix_socket_dir =',
    'pool_mode = session',
    'auth_type = any',
    'max_client_conn = 20000',
    'default_pool_size = 20000',
    'log_connections = 0',
    'log_disconnections = 0',
    'ignore_startup_parameters = extra_float_digits',
    '',
  ].join('\n');
}

/** Some systems keep it off the PATH of a user. */
export function findPgbouncer(): string | undefined {
  return findExecutable('pgbouncer') ?? findExecutable('../sbin/pgbouncer');
}

export async function startPgbouncer({ backendPort, user }: Surroundings): Promise<Peer> {
  const pgbouncer = findPgbouncer();
  if (pgbouncer === undefined) throw new Error('PgBouncer is not installed: apt-get install pgbouncer');
  const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
  await using started = new AsyncDisposableStack();
  const directory = started.use(mkdtempDisposableSync(join(tmpdir(), 'pointsman-pgbouncer-')));
  const file = join(directory.path, 'pgbouncer.ini');
  writeFileSync(file, configuration(port, backendPort, user));
  // PgBouncer refuses to run as root, and its own user needs access.
  chmodSync(directory.path, 0o755);
  const begunMs = performance.now();
  const child = started.use(new Child({ command: pgbouncer, args: [file], isUnprivileged: true }));
  await whenListening(port);
  const startedWithinMs = performance.now() - begunMs;
  const held = started.move();
  return {
    name: 'pgbouncer',
    port,
    pid: child.pid,
    startedWithinMs,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

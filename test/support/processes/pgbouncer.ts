// A real PgBouncer in front of one server, for one test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import { findFreePorts } from '../sockets/free-ports.ts';
import { waitUntil } from '../waiting/wait.ts';

const found = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  .map((directory) => join(directory, 'pgbouncer'))
  .find((file) => existsSync(file));

/** For people; undefined when it is there. */
export const missingForPgbouncer = found === undefined ? 'PgBouncer (apt-get install pgbouncer)' : undefined;

/** It refuses to run as root: then it runs as nobody. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Logs in at the server as this user, for every user that a client names. Ends with the test. */
export async function startPgbouncer(
  server: Address,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<Address> {
  const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  await chmod(directory, 0o755);
  const file = join(directory, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${server.host} port=${server.port} user=${user} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const bouncer = spawn(found ?? 'pgbouncer', ['-q', file], {
    stdio: 'ignore',
    ...(process.getuid?.() === 0 ? NOBODY : {}),
  });
  const exit = once(bouncer, 'exit');
  onTestFinished(async () => {
    bouncer.kill('SIGKILL');
    await exit;
    await rm(directory, { recursive: true });
  });
  const address = { host: '127.0.0.1', port };
  await waitUntil('PgBouncer listens', () => accepts(address), { timeoutMs: 10_000 });
  return address;
}

async function accepts(address: Address): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

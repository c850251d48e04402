// TLS at one real server that a test connects to.
import { X509Certificate } from 'node:crypto';
import { chmod, chown, copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import type { Address } from '../../../src/model/member.ts';
import { SSL_REQUEST } from '../sockets/packets.ts';
import { connectRaw } from '../sockets/raw-client.ts';
import { connectTls } from '../sockets/tls-client.ts';
import { until } from '../waiting/until.ts';
import { waitUntil } from '../waiting/wait.ts';
import { SERVER, type KeyPairPaths } from '../values/tls-files.ts';

/** `superuser`: how to log in. Returns when the server shows the certificate. */
export async function speakTls(superuser: ClientConfig & Address, pair: KeyPairPaths = SERVER): Promise<void> {
  const admin = new Client(superuser);
  await admin.connect();
  const { rows } = await admin.query<{ data_directory: string }>('show data_directory');
  const directory = rows[0]?.data_directory ?? '';
  const { uid, gid } = await stat(directory);
  for (const [parameter, file] of Object.entries({ ssl_cert_file: pair.cert, ssl_key_file: pair.key })) {
    const copy = join(directory, parameter);
    await copyFile(file, copy);
    await chmod(copy, 0o600);
    await chown(copy, uid, gid);
    await admin.query(`alter system set ${parameter} = '${copy}'`);
  }
  await admin.query('alter system set ssl = on');
  await admin.query('select pg_reload_conf()');
  await admin.end();
  const wanted = new X509Certificate(await readFile(pair.cert)).fingerprint256;
  // The postmaster reports `on` before it has read the files, and even when it cannot use them.
  await waitUntil('TLS', async () => (await shownBy(superuser)) === wanted, { timeoutMs: 10_000 });
}

/** The certificate that the server shows, whether it is right or not. Undefined: it has no TLS. */
async function shownBy({ host, port }: Address): Promise<string | undefined> {
  try {
    const { socket } = await connectTls({ host, port }, { rejectUnauthorized: false });
    const certificate = socket.getPeerX509Certificate();
    socket.destroy();
    return certificate?.fingerprint256;
  } catch {
    return undefined;
  }
}

/** The server answers a request for TLS with no. */
export async function refusesTls(server: Address): Promise<boolean> {
  const asking = await connectRaw(server);
  asking.socket.write(SSL_REQUEST);
  await until('an answer', () => asking.received().length > 0);
  asking.socket.destroy();
  return asking.received().toString() === 'N';
}

/** The version of TLS that the server chooses: `TLSv1.3`. */
export async function versionOf(server: Address): Promise<string | null> {
  const { socket } = await connectTls(server, { rejectUnauthorized: false });
  const version = socket.getProtocol();
  socket.destroy();
  return version;
}

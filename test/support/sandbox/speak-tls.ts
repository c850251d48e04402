// TLS at one real server that a test connects to, with the certificate of test/fixtures/tls.
import { chmod, chown, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { waitUntil } from '../waiting/wait.ts';
import { SERVER, tlsText } from '../values/tls-files.ts';

/** `superuser`: how to log in. Returns when the server takes clients with TLS. */
export async function speakTls(superuser: ClientConfig): Promise<void> {
  const admin = await connected(superuser);
  const { rows } = await admin.query<{ data_directory: string }>('show data_directory');
  const directory = rows[0]?.data_directory ?? '';
  const { uid, gid } = await stat(directory);
  for (const [parameter, file] of Object.entries({ ssl_cert_file: SERVER.cert, ssl_key_file: SERVER.key })) {
    const copy = join(directory, parameter);
    await copyFile(file, copy);
    await chmod(copy, 0o600);
    await chown(copy, uid, gid);
    await admin.query(`alter system set ${parameter} = '${copy}'`);
  }
  await admin.query('alter system set ssl = on');
  await admin.query('select pg_reload_conf()');
  await admin.end();
  // The postmaster reports `on` before it has read the files, and even when it cannot use them.
  const hasTls = async (): Promise<boolean> => {
    try {
      await (await connected({ ...superuser, ssl: { ca: tlsText('ca.pem') } })).end();
      return true;
    } catch {
      return false;
    }
  };
  await waitUntil('TLS', hasTls, { timeoutMs: 10_000 });
}

async function connected(options: ClientConfig): Promise<Client> {
  const client = new Client(options);
  client.on('error', () => {});
  await client.connect();
  return client;
}

// The roles of Pointsman on the servers, by the files that an operator runs (deploy/*.sql).
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PostgresServer } from './postgres/postgres-server.ts';
import type { SandboxLookup, SandboxQuestions } from './sandbox.ts';
import { makeLabAuthority } from './tls/lab-authority.ts';

/** The package resolves its own name in src/ as in dist/. */
const DEPLOY = join(dirname(createRequire(import.meta.url).resolve('pointsman/package.json')), 'deploy');
/** As public as the passwords of the other roles. */
const LOOKUP = { user: 'pointsman_lookup', password: 'lookup' };
const MONITOR = { user: 'pointsman_monitor', password: 'monitor' };

/** `primary` is asked as its superuser, in the database `postgres`. */
export async function setUpLookup(primary: PostgresServer, role: string, directory: string): Promise<SandboxLookup> {
  await primary.query(await readFile(join(DEPLOY, 'moves.sql'), 'utf8'));
  await primary.query(`alter role ${LOOKUP.user} password '${LOOKUP.password}'`);
  await primary.query(`grant pointsman_movable to ${role}`);
  const passwordFile = await keep(directory, 'lookup-password', `${LOOKUP.password}\n`);
  return { role, lookupUser: LOOKUP.user, passwordFile };
}

/** The same. */
export async function setUpQuestions(primary: PostgresServer, directory: string): Promise<SandboxQuestions> {
  await primary.query(await readFile(join(DEPLOY, 'reads.sql'), 'utf8'));
  await primary.query(`alter role ${MONITOR.user} password '${MONITOR.password}'`);
  const { cert, key } = makeLabAuthority().issue('Pointsman');
  return {
    user: MONITOR.user,
    passwordFile: await keep(directory, 'monitor-password', `${MONITOR.password}\n`),
    cert: await keep(directory, 'clients.crt', cert),
    key: await keep(directory, 'clients.key', key),
  };
}

async function keep(directory: string, name: string, content: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, content, { mode: 0o600 });
  return file;
}

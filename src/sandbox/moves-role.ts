// For sessions that move: the lookup role and its function, made by the same file that a user runs, and the password in
// a file for Pointsman.
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PostgresServer } from './postgres/server-interface.ts';
import type { SandboxMoves } from './sandbox.ts';

/** The package resolves its own name in src/ as in dist/. */
const SQL = join(dirname(createRequire(import.meta.url).resolve('pointsman/package.json')), 'deploy/moves.sql');
/** As public as the passwords of the other roles. */
const LOOKUP = { user: 'pointsman_lookup', password: 'lookup' };

/** `primary` is asked as its superuser, in the database `postgres`. */
export async function setUpMoves(primary: PostgresServer, role: string, directory: string): Promise<SandboxMoves> {
  await primary.query(await readFile(SQL, 'utf8'));
  await primary.query(`alter role ${LOOKUP.user} password '${LOOKUP.password}'`);
  await primary.query(`grant pointsman_movable to ${role}`);
  const passwordFile = join(directory, 'lookup-password');
  await writeFile(passwordFile, `${LOOKUP.password}\n`, { mode: 0o600 });
  return { role, lookupUser: LOOKUP.user, passwordFile };
}

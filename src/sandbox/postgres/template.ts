// The one database cluster that all members are copies of. initdb takes most of a second, a cold copy a tenth of that.
import { randomBytes } from 'node:crypto';
import { appendFile, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { give, run, type RunAs } from './run-as.ts';
import { BASE_FILE, INCLUDES, PARAMETERS_FILE, UPSTREAM_FILE, baseText, hbaText } from './settings-files.ts';

export const SUPERUSER = 'postgres';
const ARGUMENTS = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'];

/**
 * Makes `target` a data directory as initdb leaves it, with the superuser `postgres`. Resolves with the password of the
 * superuser. Rejects with a message for people.
 */
export type Initialize = (bin: Binaries, runAs: RunAs, target: string) => Promise<string>;

/** Runs initdb. `password`: of the superuser. */
export async function initdb(
  bin: Binaries,
  runAs: RunAs,
  target: string,
  password = randomBytes(18).toString('base64url'),
): Promise<string> {
  const { user, directory } = runAs;
  const passwordFile = join(directory, 'initial-password');
  await writeOwned(passwordFile, `${password}\n`, runAs);
  try {
    const args = ['-D', target, '-U', SUPERUSER, `--pwfile=${passwordFile}`, ...ARGUMENTS];
    const { code, output } = await run({ user, directory }, bin.initdb, args);
    if (code !== 0) throw new Error(`initdb ended with ${code}: ${output}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  return password;
}

/** Makes `target`, which is as initdb leaves it, a data directory that can be started. `tls`: clients must have it. */
export async function makeTemplate(runAs: RunAs, target: string, tls: boolean): Promise<void> {
  await appendFile(join(target, 'postgresql.conf'), INCLUDES);
  await writeFile(join(target, 'pg_hba.conf'), hbaText(false, tls));
  await writeOwned(join(target, BASE_FILE), baseText(), runAs);
  await writeOwned(join(target, PARAMETERS_FILE), '', runAs);
  await writeOwned(join(target, UPSTREAM_FILE), '', runAs);
}

export async function writeOwned(path: string, content: string | Buffer, { user }: Pick<RunAs, 'user'>): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
  await give(path, user);
}

/**
 * The first eight bytes of pg_control (ControlFileData), in the machine's byte order: little-endian on every platform
 * that has a package.
 */
export async function readSystemIdentifier(dataDirectory: string): Promise<string> {
  const file = await open(join(dataDirectory, 'global', 'pg_control'));
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readBigUInt64LE().toString();
  } finally {
    await file.close();
  }
}

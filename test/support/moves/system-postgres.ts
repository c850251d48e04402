// Whether the machine has a PostgreSQL of its own, besides the one of the sandbox.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findBinaries } from '../../../src/sandbox/postgres/binaries.ts';
import { parseVersion } from '../../../src/sandbox/postgres/usable-binaries.ts';
import { choicesHere } from '../sandbox/postgres.ts';

/** For people; undefined when it is there. */
export async function whyNoSystemPostgres(): Promise<string | undefined> {
  return (await choicesHere()).includes('system') ? undefined : 'PostgreSQL: apt-get install postgresql';
}

/** The same of one with another major version than the sandbox's, which is 18. */
export async function whyNoOlderPostgres(): Promise<string | undefined> {
  const system = await findBinaries('system');
  const said = system.kind === 'found' ? await promisify(execFile)(system.bin.postgres, ['--version']) : undefined;
  const major = Number.parseInt(parseVersion(said?.stdout ?? '') ?? '', 10);
  return major < 18 ? undefined : 'a PostgreSQL before 18: apt-get install postgresql-15';
}

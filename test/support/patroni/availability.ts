// Looks for what a real cluster needs on this machine: PostgreSQL's server, Patroni, etcd, and an account
// that is not root. Never installs anything.
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** PostgreSQL refuses to run as root; undefined means "as oneself". */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

export type Installation = {
  readonly patroni: string;
  readonly python: string;
  readonly etcd: string;
  readonly postgresBinDir: string;
  readonly account: Account;
};

export type Availability =
  | { readonly available: true; readonly installation: Installation }
  | { readonly available: false; readonly howToInstall: string };

const HOW_TO_INSTALL = 'apt-get install postgresql-15 patroni etcd-server python3-etcd python3-psycopg2';

export function patroniAvailability(): Availability {
  const installation = process.platform === 'linux' ? findInstallation() : undefined;
  return installation === undefined
    ? { available: false, howToInstall: HOW_TO_INSTALL }
    : { available: true, installation };
}

function findInstallation(): Installation | undefined {
  const patroni = findExecutable('patroni');
  const etcd = findExecutable('etcd');
  const postgresBinDir = findPostgresBinDir('postgres');
  const python = patroni === undefined ? undefined : findPython(patroni);
  const account = findAccount();
  if (patroni === undefined || etcd === undefined || postgresBinDir === undefined) return undefined;
  if (python === undefined || account === 'missing') return undefined;
  return { patroni, etcd, postgresBinDir, python, account };
}

/** The folder of `postgres`, `psql` … Debian keeps each major version's binaries off the PATH; the newest one wins. */
export function findPostgresBinDir(executable: string): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = directoryEntries(root).toSorted((a, b) => Number(b) - Number(a));
  const onPath = findExecutable(executable);
  const candidates = versions.map((version) => join(root, version, 'bin'));
  if (onPath !== undefined) candidates.push(join(onPath, '..'));
  return candidates.find((directory) => isExecutable(join(directory, executable)));
}

/** Patroni's own interpreter: the first python3 of the PATH may live where another account cannot read. */
function findPython(patroni: string): string | undefined {
  const firstLine = readFileSync(patroni, 'latin1').split('\n', 1)[0] ?? '';
  const interpreter = /^#!\s*(\/\S*python\S*)/.exec(firstLine)?.[1];
  return interpreter ?? findExecutable('python3');
}

function findAccount(): Account | 'missing' {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? 'missing' : { uid: Number(uid), gid: Number(gid) };
}

export function findExecutable(name: string): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/bin', '/usr/bin'];
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function directoryEntries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

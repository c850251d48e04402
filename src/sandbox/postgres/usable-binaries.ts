// Makes the programs run as the server's user. They are tried first. They are copied into the sandbox's directory when
// the user cannot reach them (a clone below /root), or when the npm package was installed without its install script,
// which makes links.
import { cp, readFile, readdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Binaries } from './binaries.ts';
import { give, run, type RunAs, type RunOutcome } from './run-as.ts';

export type UsableBinaries =
  | { readonly kind: 'usable'; readonly bin: Binaries; readonly version: string }
  | { readonly kind: 'unusable'; readonly why: string };

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** pg_backup_start() has its present form since this version. */
const MIN_MAJOR = 15;

export async function makeUsable(bin: Binaries, runAs: RunAs): Promise<UsableBinaries> {
  const first = await askVersion(bin, runAs);
  if (first.code === 0) return judge(bin, first.output);
  if (!isCurableByCopy(first)) return { kind: 'unusable', why: explain(bin, first) };
  const copied = await copyPrefix(bin, runAs);
  if (copied === undefined) return { kind: 'unusable', why: explain(bin, first) };
  const second = await askVersion(copied, runAs);
  return second.code === 0 ? judge(copied, second.output) : { kind: 'unusable', why: explain(copied, second) };
}

function askVersion(bin: Binaries, runAs: RunAs): Promise<RunOutcome> {
  return run(runAs, bin.postgres, ['--version']);
}

function judge(bin: Binaries, output: string): UsableBinaries {
  const version = parseVersion(output);
  if (version === undefined) return { kind: 'unusable', why: `${bin.postgres} --version says: ${output}` };
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return { kind: 'usable', bin, version };
  return { kind: 'unusable', why: `${bin.postgres} is PostgreSQL ${version}; the sandbox needs ${MIN_MAJOR} or later` };
}

/** `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` is 15.14. Betas keep their name. */
export function parseVersion(output: string): string | undefined {
  return /\(PostgreSQL\) (\d+\S*)/.exec(output)?.[1];
}

function isCurableByCopy({ code, output }: RunOutcome): boolean {
  return code === 'EACCES' || isMissingLibrary(output);
}

function isMissingLibrary(output: string): boolean {
  return /error while loading shared libraries|Library not loaded/.test(output);
}

export function explain({ postgres }: Binaries, { code, output }: RunOutcome): string {
  if (code === 'ENOENT') {
    const why = `${postgres} needs glibc, and this system has another C library (Alpine?)`;
    return `${why}; install PostgreSQL and choose \`system\``;
  }
  if (code === 'EACCES') return `the server's user may not run ${postgres}`;
  if (code === 'EPERM')
    return `this process may not run programs as another user (${output}); start the sandbox as an ordinary user`;
  if (isMissingLibrary(output)) {
    const remedy = 'was the package installed with --ignore-scripts? `npm rebuild` creates its links';
    return `${postgres} lacks a library (${output}); ${remedy}`;
  }
  return `${postgres} --version ended with ${code}: ${output}`;
}

/** Undefined when the programs are not in a tree of their own (bin, lib, share) that can be copied. */
async function copyPrefix(bin: Binaries, { user, directory }: RunAs): Promise<Binaries | undefined> {
  const prefix = dirname(dirname(bin.postgres));
  const target = join(directory, 'programs');
  const options = { recursive: true, verbatimSymlinks: true, filter: isNeeded } as const;
  try {
    for (const part of [basename(dirname(bin.postgres)), 'lib', 'share']) {
      await cp(join(prefix, part), join(target, part), options);
    }
  } catch {
    return undefined;
  }
  await makeLinks(prefix, target);
  // An installation under a strict umask is closed to others, and so is its copy.
  for (const entry of ['.', ...(await readdir(target, { recursive: true }))]) await give(join(target, entry), user);
  const moved = (path: string): string => join(target, basename(dirname(path)), basename(path));
  return { postgres: moved(bin.postgres), initdb: moved(bin.initdb), pg_ctl: moved(bin.pg_ctl) };
}

function isNeeded(path: string): boolean {
  return !path.endsWith('.a') && !['pkgconfig', 'pgxs'].includes(basename(path));
}

/** Does the work of the package's install script, because npm packages cannot contain links. */
async function makeLinks(prefix: string, target: string): Promise<void> {
  const text = await readFile(join(prefix, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const link of linksSchema.parse(JSON.parse(text))) {
    // Source and link are relative to the package's root (`native/lib/libpq.so.5`).
    const path = join(target, ...link.target.split('/').slice(1));
    await symlink(basename(link.source), path).catch(() => {});
  }
}

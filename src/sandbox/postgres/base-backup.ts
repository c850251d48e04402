// A base backup without pg_basebackup: PostgreSQL's low-level API (documentation, "Making a Base Backup Using the Low
// Level API"). Start, copy and stop use one connection. When it ends early, the server forgets the backup.
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyTree } from './copy-tree.ts';
import type { ServerUser } from './run-as.ts';
import { openSql, type SqlAddress } from './sql.ts';
import { writeOwned } from './template.ts';

export interface BackupSource {
  readonly address: SqlAddress;
  readonly dataDirectory: string;
}

/** As PostgreSQL reports them when the backup ends. */
export interface BackupFacts {
  /** The content of backup_label: where recovery begins. */
  readonly label: string;
  /** The data is consistent from this position on, `<hex>/<hex>`. */
  readonly endLsn: string;
}

const SQL_TIMEOUT_MS = 30_000;
const CONTROL_FILE = join('global', 'pg_control');

/** The directories are kept, their contents are not copied. */
const EMPTIED: ReadonlySet<string> = words(`
  pg_wal pg_replslot pg_dynshmem pg_notify pg_serial pg_snapshots pg_stat_tmp pg_subtrans
`);
const LEFT_OUT: ReadonlySet<string> = words(`
  postmaster.pid postmaster.opts standby.signal recovery.signal current_logfiles
  backup_label backup_label.old tablespace_map tablespace_map.old backup_manifest
`);

/** `target` must not exist. Rejects when the source ends or `signal` aborts. The target then cannot be started. */
export async function takeBaseBackup(
  source: BackupSource,
  target: string,
  owner: ServerUser | undefined,
  signal: AbortSignal,
): Promise<BackupFacts> {
  const sql = openSql(source.address);
  try {
    await sql.query('select pg_backup_start($1, fast => true)', ['pointsman sandbox'], SQL_TIMEOUT_MS);
    await copyTree(source.dataDirectory, target, { owner, isSkipped: isLeftOut, signal });
    const control = await readControlFile(source.dataDirectory);
    const [stopped] = await sql.query<{
      readonly lsn: string;
      readonly labelfile: string;
      readonly spcmapfile: string;
    }>('select lsn::text, labelfile, spcmapfile from pg_backup_stop(wait_for_archive => false)', [], SQL_TIMEOUT_MS);
    if (stopped === undefined) throw new Error('pg_backup_stop() gave nothing');
    const { lsn, labelfile, spcmapfile } = stopped;
    await writeOwned(join(target, 'backup_label'), labelfile, { user: owner });
    if (spcmapfile.trim() !== '') await writeOwned(join(target, 'tablespace_map'), spcmapfile, { user: owner });
    // No server starts without this file, so an unfinished copy cannot be taken for a data directory.
    await writeOwned(join(target, CONTROL_FILE), control, { user: owner });
    return { label: labelfile, endLsn: lsn };
  } finally {
    sql.reset();
  }
}

export function isLeftOut(path: string): boolean {
  if (LEFT_OUT.has(path) || path === CONTROL_FILE) return true;
  const parts = path.split('/');
  const [first = ''] = parts;
  const name = parts.at(-1) ?? '';
  return (
    (parts.length > 1 && EMPTIED.has(first)) || name.startsWith('pgsql_tmp') || name.startsWith('pg_internal.init')
  );
}

/** A data directory whose backup did not finish has no pg_control. */
export async function hasControlFile(dataDirectory: string): Promise<boolean> {
  return access(join(dataDirectory, CONTROL_FILE)).then(
    () => true,
    () => false,
  );
}

/**
 * Copied last, as pg_basebackup does: on a standby it says how far recovery must go. It is read twice, until both reads
 * agree.
 */
async function readControlFile(dataDirectory: string): Promise<Buffer> {
  const path = join(dataDirectory, CONTROL_FILE);
  let last = await readFile(path);
  for (;;) {
    const next = await readFile(path);
    if (next.equals(last)) return next;
    last = next;
  }
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

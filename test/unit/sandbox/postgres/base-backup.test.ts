import { expect, test } from 'vitest';
import { isLeftOut } from '../../../../src/sandbox/postgres/base-backup.ts';

test.each([
  'postmaster.pid',
  'standby.signal',
  'backup_label',
  'pg_wal/000000010000000000000001',
  'pg_wal/archive_status',
  'pg_replslot/slot_1',
  'base/pgsql_tmp',
  'base/5/pg_internal.init',
  'base/pgsql_tmp/pgsql_tmp4711.0',
  // The caller writes this file last; the copy does not.
  'global/pg_control',
])('left out: %s', (path) => expect(isLeftOut(path)).toBe(true));

test.each([
  'PG_VERSION',
  'pg_wal',
  'pg_replslot',
  'pg_xact/0000',
  'pg_multixact/offsets/0000',
  'pg_logical/replorigin_checkpoint',
  'base/5/1259',
  'base/5/pg_filenode.map',
  'postgresql.auto.conf',
])('copied: %s', (path) => expect(isLeftOut(path)).toBe(false));

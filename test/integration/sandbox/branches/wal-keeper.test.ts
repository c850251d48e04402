// The disk space of the cluster's past is bounded: old base copies and WAL files go, except those that a branch needs.
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Root } from '../../../../src/sandbox/branches/ancestor.ts';
import type { CopyUse } from '../../../../src/sandbox/branches/base-copy.ts';
import { WalKeeper } from '../../../../src/sandbox/branches/wal-keeper.ts';
import { SEGMENT_BYTES, segmentFile } from '../../../../src/sandbox/branches/wal-files.ts';
import { preparePostgres } from '../../../../src/sandbox/postgres/prepare.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';

const STRIDE = 2 * SEGMENT_BYTES;
const MESSAGE = `select pg_logical_emit_message(false, 'test', repeat('x', 1024 * 1024))`;

test('copies and WAL files go when nothing needs them any more', { timeout: 180_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  const prepared = await preparePostgres({ directory, names: ['node-1'], walArchive: 'wal' });
  onTestFinished(() => prepared.close());
  const [server] = prepared.servers;
  if (server === undefined) throw new Error('one server was asked for');
  expect(await server.start({ kind: 'primary' }, {})).toEqual({ kind: 'started' });
  const archive = join(directory, 'wal');
  const root = new Root('root', archive, () => server);
  const uses: CopyUse[] = [];
  const { superuser, owner } = prepared;
  const keeper = new WalKeeper({ root, directory, archive, superuser, owner, uses: () => uses, stride: STRIDE });
  onTestFinished(() => keeper.close());

  const copies = (): readonly string[] => readdirSync(directory).filter((name) => name.startsWith('base-'));
  const files = (): readonly string[] => readdirSync(archive);
  /** Enough WAL for the next copy, all of it in the archive. */
  async function advance(): Promise<void> {
    for (let written = 0; written <= STRIDE; written += 1024 * 1024) await server?.query(MESSAGE, [], 30_000);
    const { position } = await root.position();
    const last = segmentFile(1, Math.floor(position / SEGMENT_BYTES) - 1);
    await waitUntil(`${last} in the archive`, async () => files().includes(last), { timeoutMs: 60_000 });
    await keeper.check();
  }

  await keeper.takeCopy();
  await keeper.check();
  expect(copies()).toEqual(['base-1']);
  const first = root.recentCopies(1)[0] ?? expect.fail('no copy');
  const firstFile = segmentFile(1, Math.floor(first.from / SEGMENT_BYTES));
  const upTo = first.consistentAt;
  uses.push({ base: first, upTo });

  await advance();
  await advance();
  // The copy in use stays, with its WAL, for that use alone.
  expect(copies()).toEqual(['base-1', 'base-2', 'base-3']);
  expect(files()).toContain(firstFile);
  expect(root.copies(upTo)).toContain(first);
  expect(root.copies(upTo + STRIDE)).not.toContain(first);
  const between = segmentFile(1, Math.floor(upTo / SEGMENT_BYTES) + 1);
  expect(files()).not.toContain(between);

  uses.length = 0;
  await advance();
  expect(copies()).toEqual(['base-3', 'base-4']);
  expect(files()).not.toContain(firstFile);
  expect(root.copies(upTo)).not.toContain(first);
  expect(existsSync(first.directory)).toBe(false);
});

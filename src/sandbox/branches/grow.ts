// Makes the data directory of a new branch: a base copy, and the WAL from there to the position where the branch
// begins. Recovery ends where the WAL ends. A target setting (recovery_target_lsn) would need a later record in the
// WAL, which a quiet parent never writes.
import { formatLsn } from '../../model/lsn.ts';
import { copyTree } from '../postgres/copy-tree.ts';
import type { SandboxServer } from '../postgres/postgres-server.ts';
import type { ServerUser } from '../postgres/run-as.ts';
import type { Parameters } from '../postgres/server-types.ts';
import { chooseBaseCopy, type BaseCopy } from './base-copy.ts';
import { lineageAt, type Lineage } from './wal-files.ts';
import { giveWal, readLineage, type WalSource } from './wal-source.ts';

/** A position in the WAL of a branch: the state that another one begins with. */
export interface BranchOrigin {
  readonly source: WalSource;
  /** The timeline that the source is on now. */
  readonly timeline: number;
  readonly position: number;
}

export interface LineageSeed {
  readonly lineage: Lineage;
  readonly base: BaseCopy;
}

/** Undefined: no base copy is old enough. */
export async function findSeed(origin: BranchOrigin, copies: readonly BaseCopy[]): Promise<LineageSeed | undefined> {
  const lineage = lineageAt(await readLineage(origin.source, origin.timeline), origin.position);
  const base = chooseBaseCopy(copies, lineage, origin.position);
  return base === undefined ? undefined : { lineage, base };
}

export interface Growth {
  readonly origin: BranchOrigin;
  readonly seed: LineageSeed;
  /** Its data directory does not exist yet. */
  readonly server: SandboxServer;
  readonly parameters: Parameters;
  readonly owner: ServerUser | undefined;
}

/** Resolves when the server accepts writes. Rejects with the server's words. */
export async function grow({ origin, seed, server, parameters, owner }: Growth): Promise<void> {
  const { lineage, base } = seed;
  await copyTree(base.directory, server.dataDirectory, { owner });
  const range = { lineage, from: base.from, to: origin.position };
  await giveWal(origin.source, range, `${server.dataDirectory}/pg_wal`, owner);
  const outcome = await server.start({ kind: 'recovery', timeline: lineage.timeline }, parameters, RECOVER_WITHIN_MS);
  if (outcome.kind === 'started') return;
  throw new Error(`recovery to ${formatLsn(origin.position)} failed (${outcome.reason}): ${outcome.log}`);
}

/** A base copy is at most some hundred megabytes of WAL behind. */
const RECOVER_WITHIN_MS = 120_000;

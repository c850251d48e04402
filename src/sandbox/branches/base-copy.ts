// A copy of a running server's data, from which later states are recovered with WAL.
import { parseLsn } from '../../model/lsn.ts';
import { takeBaseBackup } from '../postgres/base-backup.ts';
import type { ServerUser } from '../postgres/run-as.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Credentials } from '../postgres/settings-files.ts';
import { hasPosition, type Lineage } from './wal-files.ts';

export interface BaseCopy {
  readonly directory: string;
  readonly timeline: number;
  /** Recovery reads WAL from here on. */
  readonly from: number;
  /** The earliest position that can be recovered. */
  readonly consistentAt: number;
}

/** A branch of the root: recovered from the copy, with WAL up to the position. Its own branches are so again. */
export interface CopyUse {
  readonly base: BaseCopy;
  readonly upTo: number;
}

export interface BaseCopyPlan {
  readonly server: PostgresServer;
  /** Must not exist. */
  readonly directory: string;
  readonly superuser: Credentials;
  readonly owner: ServerUser | undefined;
  readonly signal: AbortSignal;
}

/** Rejects when the server ends. */
export async function takeBaseCopy({ server, directory, ...plan }: BaseCopyPlan): Promise<BaseCopy> {
  const { host, port, dataDirectory } = server;
  const source = { address: { host, port, ...plan.superuser }, dataDirectory };
  const { label, endLsn } = await takeBaseBackup(source, directory, plan.owner, plan.signal);
  const [, start = '', file = ''] = /^START WAL LOCATION: (\S+) \(file ([0-9A-F]{24})\)/m.exec(label) ?? [];
  const [from, consistentAt] = [parseLsn(start), parseLsn(endLsn)];
  if (from === undefined || consistentAt === undefined) throw new Error(`no positions in the backup label: ${label}`);
  return { directory, timeline: Number.parseInt(file.slice(0, 8), 16), from, consistentAt };
}

/** The newest one that the position can be recovered from. */
export function chooseBaseCopy(copies: readonly BaseCopy[], lineage: Lineage, position: number): BaseCopy | undefined {
  return copies
    .filter(({ timeline, consistentAt }) => consistentAt <= position && hasPosition(lineage, timeline, consistentAt))
    .toSorted((a, b) => b.consistentAt - a.consistentAt)[0];
}

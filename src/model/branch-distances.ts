// How far a branch is from its parent, by the positions in the list. Pure.
import type { Branch } from './branch.ts';
import { parseLsn } from './lsn.ts';

export interface Distances {
  /** WAL of the parent since the branch left it. Bytes. Undefined: a root, or the source reports no positions. */
  readonly behindParent: number | undefined;
  /** WAL of the branch itself. Bytes; 0: it was never written. */
  readonly written: number | undefined;
}

/** `parent`: undefined if the list does not have it. */
export function distancesOf(branch: Branch, parent: Branch | undefined): Distances {
  // A root may report a position where it left nothing.
  if (branch.parentId === undefined) return { behindParent: undefined, written: undefined };
  return {
    behindParent: distance(branch.parentLsn, parent?.lastRecordLsn),
    written: distance(branch.parentLsn, branch.lastRecordLsn),
  };
}

function distance(from: string | undefined, to: string | undefined): number | undefined {
  const [start, end] = [parseLsn(from ?? ''), parseLsn(to ?? '')];
  return start === undefined || end === undefined || end < start ? undefined : end - start;
}

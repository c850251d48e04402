// The DETAIL of a client whose branch target leads nowhere. No text names a branch that the client did not name,
// except the ids of an ambiguous name.
import type { BranchLookup } from '../../model/branch.ts';
import { shown } from '../../model/printable.ts';

/** Ids in one DETAIL. */
const MOST_IDS = 10;

export function describeExcluded(why: Extract<BranchLookup, { kind: 'not_allowed' }>['why']): string {
  return why === 'root'
    ? 'it is a root branch, and branches.allow does not name it'
    : 'branches.allow excludes its name';
}

export function describeAmbiguous(ids: readonly string[]): string {
  const others = ids.length - MOST_IDS;
  const named = ids.slice(0, MOST_IDS).map((id) => shown(id));
  return `ids: ${named.join(', ')}${others > 0 ? ` and ${others} others` : ''}`;
}

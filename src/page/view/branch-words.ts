// The branches that the page shows, and their words. Pure.
import type { BranchDocument } from '../../documents/branches-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import { countText } from './words.ts';

/** In the table: a list may have thousands. */
export const MOST_BRANCHES = 12;

/** Those with sessions first, then the ones that clients can reach; each group by name. */
export function branchesInOrder(branches: readonly BranchDocument[]): readonly BranchDocument[] {
  return branches.toSorted((a, b) => rank(a) - rank(b) || b.sessions - a.sessions || (a.name < b.name ? -1 : 1));
}

function rank({ sessions, backend }: BranchDocument): number {
  if (sessions > 0) return 0;
  return backend === null ? 2 : 1;
}

/** `12 branches, 3 sessions, 1 client waits` */
export function branchesText({ branches, sessions }: NonNullable<StatusDocument['branches']>): string {
  const { relaying = 0, holding = 0, dialing = 0 } = sessions?.by_state ?? {};
  const waiting = holding + dialing;
  return [
    countText(branches, 'branch', 'branches'),
    countText(relaying, 'session'),
    ...(waiting === 0 ? [] : [countText(waiting, 'client waits', 'clients wait')]),
  ].join(', ');
}

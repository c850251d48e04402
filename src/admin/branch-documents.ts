// The documents about branches: the state of their list, and each branch with its sessions. Pure.
import type { Branch, BranchListStatus } from '../model/branch.ts';
import { distancesOf } from '../model/branch-distances.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import type { BranchReport, ListedBranch } from '../reports/listed-branches.ts';
import type { SessionList } from '../reports/session-list.ts';
import type { BranchDocument, BranchesDocument, BranchListDocument } from '../documents/branches-document.ts';
import { isoTime, seconds } from './status-units.ts';

export interface ReportMoment {
  readonly now: Instant;
  /** The same moment. Milliseconds since 1970. */
  readonly wallClock: number;
}

export function branchListDocument(
  { source, readAt, failing }: BranchListStatus,
  { now, wallClock }: ReportMoment,
): BranchListDocument {
  return {
    source,
    read_at: readAt === undefined ? null : isoTime(wallClock - (now - readAt)),
    age_seconds: readAt === undefined ? null : seconds(now - readAt),
    failing:
      failing === undefined
        ? null
        : { failure: failing.failure, why: failing.why, for_seconds: seconds(now - failing.since) },
  };
}

/** The document, whose entries are made when they are read: there may be very many. */
export interface BranchesListing extends Omit<BranchesDocument, 'branches'> {
  readonly branches: Iterable<BranchDocument>;
}

export function branchesListing(
  { status, branches, listed }: BranchReport,
  { sessions, silentWorkers }: Pick<SessionList, 'sessions' | 'silentWorkers'>,
  moment: ReportMoment,
): BranchesListing {
  const counts = new Map<string, number>();
  for (const { branch } of sessions) if (branch !== undefined) counts.set(branch.id, (counts.get(branch.id) ?? 0) + 1);
  const { byName, byId } = arranged(branches);
  const entries = function* (): Generator<BranchDocument, void> {
    for (const branch of byName) {
      yield branchDocument(listed(branch), byId.get(branch.parentId ?? ''), counts.get(branch.id) ?? 0);
    }
  };
  const list = { [Symbol.iterator]: entries };
  return { ...branchListDocument(status, moment), silent_workers: silentWorkers, branches: list };
}

interface BranchOrder {
  readonly byName: readonly Branch[];
  readonly byId: ReadonlyMap<string, Branch>;
}

/** Once for each list. */
const ARRANGED = new WeakMap<readonly Branch[], BranchOrder>();

function arranged(branches: readonly Branch[]): BranchOrder {
  const known = ARRANGED.get(branches);
  if (known !== undefined) return known;
  const byName = branches.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const made = { byName, byId: new Map(branches.map((branch) => [branch.id, branch])) };
  ARRANGED.set(branches, made);
  return made;
}

function branchDocument(
  { branch, backend, readBackend, why }: ListedBranch,
  parent: Branch | undefined,
  sessions: number,
): BranchDocument {
  const { behindParent, written } = distancesOf(branch, parent);
  return {
    id: branch.id,
    name: branch.name,
    parent_id: branch.parentId ?? null,
    parent_name: parent?.name ?? null,
    parent_lsn: branch.parentLsn ?? null,
    last_record_lsn: branch.lastRecordLsn ?? null,
    behind_parent_bytes: behindParent ?? null,
    written_bytes: written ?? null,
    has_read_endpoint: branch.hasReadEndpoint ?? null,
    backend: backend === undefined ? null : addressText(backend.address),
    read_backend: readBackend === undefined ? null : addressText(readBackend.address),
    rule: backend?.rule ?? null,
    why_no_backend: why ?? null,
    sessions,
  };
}

// The documents about branches.
import { expect, test } from 'vitest';
import { branchesDocument as branchesSchema } from '../../../src/documents/branches-document.ts';
import { branchesListing, branchListDocument } from '../../../src/admin/branch-documents.ts';
import { branchReport } from '../../../src/app/branch-report.ts';
import type { ListLookup } from '../../../src/branches/resolve.ts';
import type { Branch, BranchListStatus } from '../../../src/model/branch.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';

const moment = { now: 10_000, wallClock: Date.UTC(2026, 0, 1) };
const STATUS: BranchListStatus = { source: 'storage', branches: 3, readAt: 6000, failing: undefined };
const silent = { sessions: [], silentWorkers: [] };

function aBranch(name: string, facts: Partial<Branch> = {}): Branch {
  const base = { parentId: 'id-main', parentLsn: '1/1000', lastRecordLsn: '1/1000', hasReadEndpoint: undefined };
  return { id: `id-${name}`, name, ...base, ...facts };
}

const MAIN = aBranch('main', { parentId: undefined, parentLsn: undefined, lastRecordLsn: '1/3000' });

function directoryOf(branches: readonly Branch[], lookups: Readonly<Record<string, ListLookup>> = {}) {
  const backend = { address: { host: '10.0.0.9', port: 55432 }, rule: 'template', tls: 'off' } as const;
  const lookup = (id: string): ListLookup => {
    const branch = branches.find((one) => one.id === id) ?? MAIN;
    return lookups[id] ?? { kind: 'found', branch, backend };
  };
  return { index: () => ({ branches, lookup }), status: () => STATUS };
}

test('the age of the list in use, and the failure since', () => {
  expect(branchListDocument(STATUS, moment)).toEqual({
    source: 'storage',
    read_at: '2025-12-31T23:59:56.000Z',
    age_seconds: 4,
    failing: null,
  });
  const failing = { failure: 'denied', why: 'status 401', since: 8500 } as const;
  expect(branchListDocument({ ...STATUS, readAt: undefined, failing }, moment)).toEqual({
    source: 'storage',
    read_at: null,
    age_seconds: null,
    failing: { failure: 'denied', why: 'status 401', for_seconds: 1.5 },
  });
});

test('each branch by name, with its parent, its distances, its backend and its sessions', () => {
  const written = aBranch('b-written', { lastRecordLsn: '1/1800' });
  const report = branchReport(
    directoryOf([written, MAIN, aBranch('a-fresh')], { 'id-main': { kind: 'not_allowed', branch: MAIN, why: 'root' } }),
  );
  const ofBranch = { member: undefined, branch: { id: 'id-b-written', name: 'old name' } };
  const sessions = [aSessionEntry(ofBranch), aSessionEntry(ofBranch), aSessionEntry()];
  const listing = branchesListing(report, { sessions, silentWorkers: [2] }, moment);
  const document = { ...listing, branches: [...listing.branches] };
  expect(branchesSchema.safeParse(document).error).toBeUndefined();
  expect(document.silent_workers).toEqual([2]);
  expect(document.branches).toMatchObject([
    { name: 'a-fresh', parent_name: 'main', behind_parent_bytes: 0x2000, written_bytes: 0, sessions: 0 },
    { name: 'b-written', written_bytes: 0x800, backend: '10.0.0.9:55432', rule: 'template', sessions: 2 },
    { name: 'main', parent_id: null, backend: null, read_backend: null, why_no_backend: 'it is a root (production)' },
  ]);
});

test('a position that is unknown, or before the branch, gives no distance', () => {
  const odd = [
    aBranch('a', { lastRecordLsn: undefined }),
    aBranch('b', { lastRecordLsn: '0/1' }),
    aBranch('c', { parentLsn: 'x', parentId: 'id-gone' }),
  ];
  const branches = [...branchesListing(branchReport(directoryOf(odd)), silent, moment).branches];
  expect(branches.map((one) => [one.written_bytes, one.behind_parent_bytes])).toEqual([
    [null, null],
    [null, null],
    [null, null],
  ]);
  expect(branches[2]).toMatchObject({ parent_id: 'id-gone', parent_name: null });
});

test.each<[ListLookup, string]>([
  [{ kind: 'not_allowed', branch: MAIN, why: 'allow' }, 'branches.allow excludes its name'],
  [{ kind: 'no_backend', branch: MAIN, why: 'no template' }, 'no template'],
  [{ kind: 'ambiguous', ids: ['a', 'b'] }, 'several branches have this id: a, b'],
  [{ kind: 'unknown' }, 'it left the list a moment ago'],
])('%o: why the branch has no backend', (lookup, why) => {
  const report = branchReport(directoryOf([MAIN], { 'id-main': lookup }));
  expect(report.listed(MAIN)).toEqual({ branch: MAIN, backend: undefined, readBackend: undefined, why });
});

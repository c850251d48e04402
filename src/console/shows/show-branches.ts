// SHOW BRANCHES: the branches, as GET /branches has them.
import type { BranchDocument, BranchesDocument } from '../../documents/branches-document.ts';
import { int4, int8, tableOf, text, type ColumnOf, type Table } from '../console-table.ts';

export const branchColumns: readonly ColumnOf<BranchDocument>[] = [
  ...text<BranchDocument>({
    name: ({ name }) => name,
    id: ({ id }) => id,
    parent: (branch) => branch.parent_name ?? branch.parent_id,
    branched_at: (branch) => branch.parent_lsn,
    last_record_lsn: (branch) => branch.last_record_lsn,
  }),
  ...int8<BranchDocument>({
    behind_parent_bytes: (branch) => branch.behind_parent_bytes,
    written_bytes: (branch) => branch.written_bytes,
  }),
  ...text<BranchDocument>({ backend: ({ backend }) => backend, read_backend: (branch) => branch.read_backend }),
  ...int4<BranchDocument>({ sessions: ({ sessions }) => sessions }),
  ...text<BranchDocument>({ why_no_backend: (branch) => branch.why_no_backend }),
];

/** Without branches the table is empty. */
export function showBranches(document: BranchesDocument | undefined): Table {
  const table = tableOf(branchColumns, document?.branches ?? []);
  if (document === undefined) return { ...table, notice: 'no branches are configured' };
  const { failing, silent_workers: silent } = document;
  const parts = [
    ...(failing === null ? [] : [`the list of branches cannot be read: ${failing.why}; this is the last one`]),
    ...(silent.length === 0 ? [] : [`workers that do not answer, with sessions of their own: ${silent.join(', ')}`]),
  ];
  return parts.length === 0 ? table : { ...table, notice: parts.join('; ') };
}

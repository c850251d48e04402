// SHOW BRANCHES: the branches, as GET /branches has them.
import type { BranchDocument } from '../../documents/branches-document.ts';
import { int4, int8, showOf, silentText, text, type ColumnOf } from '../console-table.ts';

const columns: readonly ColumnOf<BranchDocument>[] = [
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
export const BRANCHES = showOf(
  'the branches of the database, and where each of them is served',
  columns,
  async (sources) => {
    const document = await sources.branches();
    if (document === undefined) return { rows: [], gaps: ['no branches are configured'] };
    const { branches, failing, silent_workers: silent } = document;
    const gaps = [
      ...(failing === null ? [] : [`the list of branches cannot be read: ${failing.why}; this is the last one`]),
      ...silentText(silent),
    ];
    return { rows: branches, gaps };
  },
);

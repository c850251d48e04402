// `pointsman branches list`: the branches of the source, with the sessions that the running Pointsman reports.
import type { Branch } from '../../model/branch.ts';
import { sizeText } from '../../model/check.ts';
import { shown } from '../../model/printable.ts';
import { json } from '../../cli/json.ts';
import type { CliIo } from '../../cli/io.ts';
import { paintFor, type Paint } from '../../cli/terminal/colour.ts';
import { tableText, widthFor, type Column } from '../../cli/terminal/terminal-table.ts';
import { wrapped } from '../../cli/terminal/wrap.ts';
import { indexBranches, type BranchIndex } from '../../branches/resolve.ts';
import {
  openContext,
  readBranches,
  type BranchContext,
  type BranchOptions,
  type BranchParts,
} from './branch-context.ts';
import { distancesOf, type Distances } from '../../model/branch-distances.ts';
import { BRANCH_EXIT } from './branch-exit.ts';
import { routeTo, type TargetRoute } from './target-route.ts';
import { readRunning, type RunningReport } from './branch-sessions.ts';

interface BranchRow extends Distances {
  readonly branch: Branch;
  readonly parent: Branch | undefined;
  readonly route: TargetRoute;
  /** Undefined: no Pointsman reports them. */
  readonly sessions: number | undefined;
}

/** The names in a note. */
const MOST_NAMES = 5;

export async function list(options: BranchOptions, io: CliIo, parts: BranchParts): Promise<number> {
  const context = await openContext(options, io, parts);
  const [branches, running] = await Promise.all([readBranches(context), readRunning(context)]);
  const index = indexBranches(branches, context.policy);
  const rows = index.branches.map((branch) => rowOf(branch, index, running)).toSorted(byName);
  io.stdout(options.json === true ? documentOf(rows, running, context) : listText(rows, running, context));
  return BRANCH_EXIT.ok;
}

function rowOf(branch: Branch, index: BranchIndex, running: RunningReport): BranchRow {
  const parent = index.branches.find(({ id }) => id === branch.parentId);
  return {
    branch,
    parent,
    route: routeTo(branch.id, 'write', index),
    sessions: running.kind === 'answer' ? (running.sessions.get(branch.id) ?? 0) : undefined,
    ...distancesOf(branch, parent),
  };
}

/** Roots first. */
function byName({ branch: a }: BranchRow, { branch: b }: BranchRow): number {
  return Number(a.parentId !== undefined) - Number(b.parentId !== undefined) || (a.name < b.name ? -1 : 1);
}

interface BranchTableColumn extends Column {
  readonly cell: (row: BranchRow, paint: Paint) => string;
}

const NONE = '-';
/** Characters of the id of a parent without a name. */
const SHORT_ID = 8;

const COLUMNS: readonly BranchTableColumn[] = [
  { title: 'NAME', cell: ({ branch }) => shown(branch.name) },
  { title: 'ID', optional: 3, cell: ({ branch }) => (branch.id === branch.name ? NONE : shown(branch.id)) },
  { title: 'PARENT', cell: parentText },
  { title: 'BRANCHED AT', optional: 2, cell: ({ branch }) => branch.parentLsn ?? NONE },
  { title: 'BEHIND PARENT', align: 'right', optional: 1, cell: ({ behindParent }) => distanceText(behindParent) },
  { title: 'WRITTEN', align: 'right', cell: ({ written }) => distanceText(written) },
  { title: 'BACKEND', cell: ({ route }, paint) => backendText(route, paint) },
  { title: 'SESSIONS', align: 'right', cell: ({ sessions }) => sessions?.toString() ?? NONE },
];

function listText(rows: readonly BranchRow[], running: RunningReport, context: BranchContext): string {
  const { io, source } = context;
  const paint = paintFor(io);
  const count = rows.length === 1 ? '1 branch' : `${rows.length} branches`;
  // A source that does not report a value leaves its column out.
  const columns = COLUMNS.filter(({ cell }) => rows.some((row) => cell(row, paint) !== NONE));
  const lines = rows.map((row) => columns.map(({ cell }) => cell(row, paint)));
  return [
    `${paint('strong', `${rows.length === 0 ? 'no branches' : count} in ${source}`)}\n`,
    rows.length === 0 ? '' : `\n${tableText(columns, lines, widthFor(io))}`,
    ...notes(rows, running, context).map((note, index) => `${index === 0 ? '\n' : ''}${wrapped(note)}\n`),
  ].join('');
}

function notes(rows: readonly BranchRow[], running: RunningReport, { policy }: BranchContext): readonly string[] {
  const unused = rows.filter(({ written, branch }) => written === 0 && branch.parentId !== undefined);
  const canDelete = policy.source.kind === 'storage' && unused.length > 0;
  return [
    ...(running.kind === 'answer' ? [] : [`Sessions are unknown: ${running.why}`]),
    ...(canDelete ? [`Never written: ${namesText(unused)}. Remove one with: pointsman branches delete NAME`] : []),
  ];
}

function namesText(rows: readonly BranchRow[]): string {
  const names = rows.slice(0, MOST_NAMES).map(({ branch }) => shown(branch.name));
  const more = rows.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function backendText(route: TargetRoute, paint: Paint): string {
  return route.kind === 'routed' ? route.address : paint('warn', `none: ${route.short}`);
}

/** A parent without a name is shown by the start of its id: the whole id is in its own row. */
function parentText({ branch, parent }: BranchRow): string {
  if (parent !== undefined && parent.name !== parent.id) return shown(parent.name);
  const id = branch.parentId ?? NONE;
  return id.length > SHORT_ID ? `${id.slice(0, SHORT_ID)}…` : shown(id);
}

function distanceText(bytes: number | undefined): string {
  return bytes === undefined ? NONE : sizeText(bytes);
}

function documentOf(rows: readonly BranchRow[], running: RunningReport, { policy, source }: BranchContext): string {
  return json({
    source: policy.source.kind,
    read_from: source,
    sessions_from: running.kind === 'answer' ? running.from : null,
    branches: rows.map(({ branch, parent, route, sessions, behindParent, written }) => ({
      id: branch.id,
      name: branch.name,
      parent_id: branch.parentId ?? null,
      parent_name: parent?.name ?? null,
      parent_lsn: branch.parentLsn ?? null,
      last_record_lsn: branch.lastRecordLsn ?? null,
      behind_parent_bytes: behindParent ?? null,
      written_bytes: written ?? null,
      backend: route.kind === 'routed' ? route.address : null,
      why_no_backend: route.kind === 'routed' ? null : route.why,
      sessions: sessions ?? null,
    })),
  });
}

// `pointsman branches explain`: where a target goes, by which setting, and from how old a list.
import { indexBranches, settingOf, type BranchMatch } from '../../branches/resolve.ts';
import { durationText } from '../../core/describe.ts';
import { findPool } from '../../model/pool-names.ts';
import { shown } from '../../model/printable.ts';
import { CommandEnd, unlessEnded } from '../../cli/command-end.ts';
import type { CliIo } from '../../cli/io.ts';
import { json } from '../../cli/json.ts';
import { paintFor } from '../../cli/terminal/colour.ts';
import { tableText, widthFor } from '../../cli/terminal/terminal-table.ts';
import {
  openContext,
  readBranches,
  type BranchContext,
  type BranchOptions,
  type BranchParts,
} from './branch-context.ts';
import { BRANCH_EXIT } from './branch-exit.ts';
import { branchText } from './find-branch.ts';
import { routeTo, type TargetRoute } from './target-route.ts';
import { readRunning, type ReportedBranches } from './branch-sessions.ts';

/** The list that decides. */
type UsedList = Pick<ReportedBranches, 'branches' | 'from' | 'failing'> & { readonly ageMs: number };

export async function explain(given: string, options: BranchOptions, io: CliIo, parts: BranchParts): Promise<number> {
  const context = await openContext(options, io, parts);
  const target = targetOf(given);
  const pool = findPool(
    target,
    context.config.pools.map(({ name }) => name),
  );
  const found = await unlessEnded(() => usedList(context));
  const list = found instanceof CommandEnd ? undefined : found;
  if (pool !== undefined) return explainPool(given, target, pool, list, context);
  if (list === undefined) return BRANCH_EXIT.failure;
  const index = indexBranches(list.branches, context.policy);
  const write = routeTo(target, 'write', index);
  const read = routeTo(target, 'read', index);
  const explained: TargetExplanation = { given, target, by: index.match(target)?.by, write, read, list };
  io.stdout(options.json === true ? documentOf(explained) : textOf(explained, context));
  if (write.kind === 'routed') return BRANCH_EXIT.ok;
  return write.isRule ? BRANCH_EXIT.refused : BRANCH_EXIT.failure;
}

/** Behind the last @, as in the database of a client; the whole text if it has none. */
function targetOf(given: string): string {
  return /(?:^|@|%40)((?:(?!@|%40).)*)$/s.exec(given)?.[1] ?? given;
}

/** The list of the running Pointsman, which decides for clients. */
async function usedList(context: BranchContext): Promise<UsedList> {
  const running = await readRunning(context);
  if (running.kind === 'answer' && running.ageMs !== undefined) return { ...running, ageMs: running.ageMs };
  const branches = await readBranches(context);
  return { branches, from: context.source, ageMs: 0, failing: undefined };
}

/** A pool comes before a branch of its name. */
function explainPool(
  given: string,
  target: string,
  pool: string,
  list: UsedList | undefined,
  { io, options }: BranchContext,
): number {
  const hidden = list?.branches.filter(({ name, id }) => name === target && id !== target) ?? [];
  if (options.json === true) {
    io.stdout(json({ target, kind: 'pool', pool, hidden_branches: hidden.map(({ id, name }) => ({ id, name })) }));
    return BRANCH_EXIT.ok;
  }
  const lines = [
    `${shown(given)} goes to the pool ${pool}, not to a branch`,
    ...hidden.map(({ id }) => `the branch of this name is reachable by its id: ${databaseOf(given)}@${shown(id)}`),
  ];
  io.stdout(lines.map((line) => `${line}\n`).join(''));
  return BRANCH_EXIT.ok;
}

function databaseOf(given: string): string {
  const at = given.lastIndexOf('@');
  return at > 0 ? shown(given.slice(0, at)) : 'DATABASE';
}

interface TargetExplanation {
  readonly given: string;
  readonly target: string;
  readonly by: BranchMatch['by'] | undefined;
  readonly write: TargetRoute;
  readonly read: TargetRoute;
  readonly list: UsedList;
}

function textOf({ given, by, write, read, list }: TargetExplanation, { io, policy }: BranchContext): string {
  const paint = paintFor(io);
  const age = list.ageMs === 0 ? 'read now' : `${durationText(list.ageMs)} old`;
  const count = list.branches.length === 1 ? '1 branch' : `${list.branches.length} branches`;
  const listRows = [
    ['list', `${count}, ${age}, from ${list.from}`],
    ...(list.failing === undefined ? [] : [['', `the list cannot be read ${list.failing}`]]),
  ];
  if (write.kind === 'refused') {
    const head = `${paint('bad', `${shown(given)} is refused with SQLSTATE ${write.sqlstate}`)}\n`;
    return head + rowsText([['because', write.why], ...listRows], io);
  }
  const { branch } = write;
  const parent = list.branches.find(({ id }) => id === branch.parentId)?.name ?? branch.parentId;
  const start = branch.parentLsn === undefined ? '' : ` at ${branch.parentLsn}`;
  const rows = [
    ['found by', by === 'slug' ? `the slug of its name, ${shown(branch.name)}` : `its ${by}`],
    ...(parent === undefined ? [] : [['parent', `${shown(parent)}${start}`]]),
    ['writes', backendText(write)],
    ['reads', backendText(read)],
    ['TLS', policy.backends.tls === 'off' ? 'off (branches.backends.tls)' : 'required (branches.backends.tls)'],
    ...listRows,
  ];
  return `${paint('good', `${shown(given)} goes to ${branchText(branch)}`)}\n${rowsText(rows, io)}`;
}

function backendText(route: TargetRoute): string {
  return route.kind === 'routed' ? `${route.address}, by ${settingOf(route.backend.rule)}` : `refused: ${route.why}`;
}

function rowsText(rows: readonly (readonly string[])[], io: CliIo): string {
  const cells = rows.map(([title = '', value = '']) => [`  ${title}`, value]);
  return tableText([{ title: '' }, { title: '', wraps: true }], cells, widthFor(io));
}

function documentOf({ target, by, write, read, list }: TargetExplanation): string {
  return json({
    target,
    kind: write.kind === 'routed' ? 'branch' : 'refused',
    ...(write.kind === 'routed'
      ? {
          branch: { id: write.branch.id, name: write.branch.name },
          found_by: by,
          write: backendDocument(write),
          read: backendDocument(read),
        }
      : { sqlstate: write.sqlstate, why: write.why }),
    list: {
      from: list.from,
      branches: list.branches.length,
      age_seconds: list.ageMs / 1000,
      failing: list.failing ?? null,
    },
  });
}

function backendDocument(route: TargetRoute): object | null {
  return route.kind === 'routed' ? { address: route.address, rule: route.backend.rule, tls: route.backend.tls } : null;
}

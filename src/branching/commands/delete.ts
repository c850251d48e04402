// `pointsman branches delete`: checks what would be lost, asks, and deletes the branch on the storage node.
import { countText } from '../../core/describe.ts';
import type { Branch } from '../../model/branch.ts';
import { sizeText } from '../../model/check.ts';
import { shown } from '../../model/printable.ts';
import { fail } from '../../cli/command-end.ts';
import type { CliIo } from '../../cli/io.ts';
import { json } from '../../cli/json.ts';
import { confirm } from '../../cli/terminal/confirm.ts';
import {
  openContext,
  readBranches,
  whyNoNamesFile,
  type BranchContext,
  type BranchOptions,
  type BranchParts,
} from './branch-context.ts';
import { distancesOf } from '../../model/branch-distances.ts';
import { BRANCH_EXIT } from './branch-exit.ts';
import { branchText, findBranches, severalText } from './find-branch.ts';
import { readRunning, type RunningReport } from './branch-sessions.ts';

export interface DeleteBranchOptions extends BranchOptions {
  readonly ifExists?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

export async function remove(
  target: string,
  options: DeleteBranchOptions,
  io: CliIo,
  parts: BranchParts,
): Promise<number> {
  if (options.json === true && options.yes !== true) {
    return fail(io, '--json asks no question: add --yes', BRANCH_EXIT.usage);
  }
  const context = await openContext(options, io, parts);
  const cannot = whyNoDeletion(context);
  if (cannot !== undefined) return fail(io, cannot, BRANCH_EXIT.usage);
  const [all, running] = await Promise.all([readBranches(context), readRunning(context)]);
  const found = findBranches(target, all);
  if (found.length > 1) return fail(io, severalText(target, found), BRANCH_EXIT.refused);
  const [branch] = found;
  if (branch === undefined) return missing(target, context);
  const title = branchText(branch);
  const why = whyRefused(branch, all, running, options.force === true);
  if (why !== undefined) return fail(io, `${title} ${why}`, BRANCH_EXIT.refused);
  if (running.kind !== 'answer') io.stderr(`warning: the sessions of the branch are unknown: ${running.why}\n`);
  const parent = all.find(({ id }) => id === branch.parentId);
  const { written = 0 } = distancesOf(branch, parent);
  const loss = written === 0 ? '' : ` It has written ${sizeText(written)}, which is lost.`;
  await confirm({ question: `Delete ${title}?${loss}`, name: branch.name, yes: options.yes }, io);
  const removed = await context.control.remove(branch);
  if (removed.kind === 'failed') return fail(io, `${title} is not deleted: ${removed.why}`);
  const deleted = { id: branch.id, name: branch.name };
  io.stdout(options.json === true ? json({ deleted }) : `${title} is deleted\n`);
  return BRANCH_EXIT.ok;
}

function whyNoDeletion(context: BranchContext): string | undefined {
  switch (context.policy.source.kind) {
    case 'console':
      return 'a console has no way to delete a branch in its API: delete it with the tools of the console';
    case 'static':
      return 'the branches are in the configuration: remove the entry from branches.static, then `pointsman reload`';
    case 'storage':
      // Without a names file there is no name to remove.
      return context.policy.source.namesFile === undefined ? undefined : whyNoNamesFile(context);
  }
}

function missing(target: string, { io, options, source }: BranchContext<DeleteBranchOptions>): number {
  const text = `there is no branch ${shown(target)} in ${source}`;
  if (options.ifExists !== true) return fail(io, `${text}. See: pointsman branches list`);
  io.stdout(options.json === true ? json({ deleted: null }) : `${text}: nothing to delete\n`);
  return BRANCH_EXIT.ok;
}

/** The end of a sentence about the branch. */
function whyRefused(
  branch: Branch,
  all: readonly Branch[],
  running: RunningReport,
  isForced: boolean,
): string | undefined {
  const children = all.filter(({ parentId }) => parentId === branch.id);
  if (children.length > 0) {
    const names = children.map(({ name }) => shown(name)).join(', ');
    const [count, those] = children.length === 1 ? ['1 branch', 'that'] : [`${children.length} branches`, 'them'];
    return `has ${count} of its own: ${names}. Delete ${those} first`;
  }
  if (isForced) return undefined;
  if (branch.parentId === undefined) return 'is a root, so it may be production. --force deletes it all the same';
  const sessions = running.kind === 'answer' ? (running.sessions.get(branch.id) ?? 0) : 0;
  if (sessions === 0) return undefined;
  return `has ${countText(sessions, 'session')}. End them first, or use --force, which breaks them`;
}

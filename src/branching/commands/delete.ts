// `pointsman branches delete`: checks what would be lost, asks, and deletes the branch on the storage node.
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
import { branchText, findBranch, severalText } from './find-branch.ts';
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
  const found = findBranch(target, all);
  if (found.kind === 'several') return fail(io, severalText(target, found.ids), BRANCH_EXIT.refused);
  if (found.kind === 'none') return missing(target, context);
  return removeFound(found.branch, { all, running, context });
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

interface DeletionFacts {
  readonly all: readonly Branch[];
  readonly running: RunningReport;
  readonly context: BranchContext<DeleteBranchOptions>;
}

async function removeFound(branch: Branch, known: DeletionFacts): Promise<number> {
  const { io, options, control } = known.context;
  const why = whyRefused(branch, known);
  if (why !== undefined) return fail(io, why, BRANCH_EXIT.refused);
  if (known.running.kind !== 'answer') {
    io.stderr(`warning: the sessions of the branch are unknown: ${known.running.why}\n`);
  }
  const { written } = distancesOf(
    branch,
    known.all.find(({ id }) => id === branch.parentId),
  );
  const loss = written === undefined || written === 0 ? '' : ` It has written ${sizeText(written)}, which is lost.`;
  const question = `Delete ${branchText(branch)}?${loss}`;
  const answer = await confirm({ question, name: branch.name, yes: options.yes }, io);
  if (answer !== 'confirmed') return answer;
  const removed = await control.remove(branch);
  if (removed.kind === 'failed') {
    const failed = `${branchText(branch)} is not deleted: ${removed.why}`;
    return fail(io, failed);
  }
  const deleted = { id: branch.id, name: branch.name };
  io.stdout(options.json === true ? json({ deleted }) : `${branchText(branch)} is deleted\n`);
  return BRANCH_EXIT.ok;
}

function whyRefused(branch: Branch, { all, running, context: { options } }: DeletionFacts): string | undefined {
  const title = branchText(branch);
  const children = all.filter(({ parentId }) => parentId === branch.id);
  if (children.length > 0) {
    const names = children.map(({ name }) => shown(name)).join(', ');
    const [count, those] = children.length === 1 ? ['1 branch', 'that'] : [`${children.length} branches`, 'them'];
    return `${title} has ${count} of its own: ${names}. Delete ${those} first`;
  }
  if (options.force === true) return undefined;
  if (branch.parentId === undefined)
    return `${title} is a root, so it may be production. --force deletes it all the same`;
  const sessions = running.kind === 'answer' ? (running.sessions.get(branch.id) ?? 0) : 0;
  if (sessions === 0) return undefined;
  const count = sessions === 1 ? '1 session' : `${sessions} sessions`;
  return `${title} has ${count}. End them first, or use --force, which breaks them`;
}

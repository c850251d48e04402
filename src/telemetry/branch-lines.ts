// The lines of the events about branches. Failed connects of a branch that wakes up are usual, so they are debug: the
// end of the client's session says what came of them.
import { countText, durationText } from '../core/describe.ts';
import type { BranchEvent } from '../reports/branch-events.ts';
import type { EventOf } from '../reports/events.ts';
import { line, type LogLine } from './line.ts';

type BranchLines = { readonly [Kind in BranchEvent['kind']]: (event: EventOf<Kind>) => LogLine };

export const BRANCH_LINES: BranchLines = {
  branch_list_read: ({ why, branches, durationMs }) =>
    line(why === undefined ? 'trace' : 'debug', () => {
      const took = `in ${durationText(durationMs)}`;
      return why === undefined ? `read ${branchesText(branches)} ${took}` : `no list of branches ${took}: ${why}`;
    }),
  branch_list_failed: (event) => line('warn', () => failedText(event)),
  branch_list_recovered: ({ branches, failedForMs }) =>
    line(
      'info',
      () => `the list of branches can be read again after ${durationText(failedForMs)}: ${branchesText(branches)}`,
    ),
  branch_shadowed: ({ branch: { id, name }, pool }) =>
    line(
      'warn',
      () => `branch ${name} has the name of pool ${pool}, which wins: reach the branch by its id (app@${id})`,
    ),
  branch_located: ({ session, target, result, durationMs }) =>
    line('debug', () => `session ${session}: branch ${target}: ${result} in ${durationText(durationMs)}`),
  branch_dial_finished: ({ session, branch, backend, outcome, durationMs }) =>
    line(outcome === 'connected' ? 'trace' : 'debug', () => {
      const what = `connect to branch ${branch.name} (${backend})`;
      return `session ${session}: ${what}: ${outcome} after ${durationText(durationMs)}`;
    }),
  branch_wait_ended: ({ session, branch, outcome, attempts, waitedMs }) =>
    line('debug', () => {
      const after = `${durationText(waitedMs)}, ${countText(attempts, 'attempt')}`;
      return `session ${session}: wait for branch ${branch.name} ended after ${after}: ${outcome}`;
    }),
};

function branchesText(count: number): string {
  return countText(count, 'branch', 'branches');
}

function failedText({ why, branches, ageMs }: EventOf<'branch_list_failed'>): string {
  const sentence = `the list of branches cannot be read: ${why}`;
  if (ageMs === undefined) return `${sentence}; clients that ask for a branch are refused with 57P03 until it can`;
  return `${sentence}; the last one stays in use (${branchesText(branches)}, ${durationText(ageMs)} old)`;
}

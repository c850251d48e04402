// The outcome of a restart: the member is back, the others have caught up with it, and no parameter is left.
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import type { MemberName } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import { valueOf, type ClusterContext } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { isRunning, restartReasons, stateText } from './member-choice.ts';
import { waitUntil } from './waiting.ts';

const MOST_WAIT_MS = 120_000;

/** The members publish a cleared flag with their next heartbeat. */
const MOST_WAIT_FOR_FLAG_MS = 15_000;

/**
 * The order is given, so a parameter has just been changed. Each member marks itself with its next heartbeat. Earlier
 * reports would leave out those that have not done so.
 */
export function whenMarked(context: ClusterContext): Promise<ClusterReport> {
  return waitUntil(context, (reading, waitedMs) => {
    const report = valueOf(reading, context.io);
    const others = report.members.filter((member) => !member.pending_restart).map(({ name }) => name);
    const isOver = !report.reports_restarts || others.length === 0;
    if (isOver || waitedMs >= MOST_WAIT_FOR_FLAG_MS) return { end: report };
    return `${others.join(', ')} must report first that a restart is pending, which takes a heartbeat`;
  });
}

/** The answer comes when PostgreSQL runs again. The cluster learns of it up to a heartbeat later. */
export function untilRunning({ name, state }: MemberReport, context: ClusterContext): Promise<string | undefined> {
  return waitUntil<string | undefined>(context, (report, waitedMs) => {
    const member = report.kind === 'read' ? report.value.members.find((one) => one.name === name) : undefined;
    const isBack = member !== undefined && isRunning(member) && (state !== 'streaming' || member.state === 'streaming');
    // A flag may stay for another reason: the next step of the order finds out.
    if (isBack && (!member.pending_restart || waitedMs >= MOST_WAIT_FOR_FLAG_MS)) return { end: undefined };
    const seen = member === undefined ? 'it is not in the report of the cluster' : `its state is ${stateText(member)}`;
    if (waitedMs >= MOST_WAIT_MS) {
      return { end: `${name} restarted, but did not come back within ${MOST_WAIT_MS / 60_000} min: ${seen}` };
    }
    return isBack ? `${name} runs, and still reports that a restart is pending` : `${name} must run again: ${seen}`;
  });
}

/** A standby keeps the old value of a lowered parameter until it has replayed the record of the primary's restart. */
export async function untilCaughtUp(
  leader: MemberName,
  followers: readonly MemberName[],
  context: ClusterContext,
): Promise<string | undefined> {
  if (followers.length === 0) return undefined;
  let goal: number | undefined;
  return waitUntil<string | undefined>(context, (report, waitedMs) => {
    const positions = new Map(
      report.kind === 'read' ? report.value.members.map(({ name, wal_position: at }) => [name, at ?? undefined]) : [],
    );
    goal ??= positions.get(leader);
    // A position that is not reported cannot be awaited.
    const behind = followers.filter((name) => (positions.get(name) ?? Infinity) < (goal ?? 0));
    if (report.kind === 'read' && behind.length === 0) return { end: undefined };
    const names = report.kind === 'read' ? behind.join(', ') : report.why;
    if (waitedMs < MOST_WAIT_MS) return `the others must catch up with ${leader}: ${names}`;
    const end = `${leader} restarted, but not all others have caught up within ${MOST_WAIT_MS / 60_000} min: ${names}`;
    return { end };
  });
}

/** A restart can leave the parameter as it was: of a standby that is below its primary, for one. */
export async function lookAgain(restarted: readonly MemberName[], { control, io }: ClusterContext): Promise<number> {
  const report = await control.report();
  if (report.kind === 'unreadable') return fail(io, `the members restarted, and cannot be read: ${report.why}`);
  const left = report.value.members.filter(({ name, pending_restart: isPending }) => {
    return isPending && restarted.includes(name);
  });
  if (left.length === 0) return EXIT.ok;
  const names = left.map((member) => [member.name, restartReasons(member).join(', ')].filter(Boolean).join(': '));
  const verb = left.length === 1 ? 'needs' : 'need';
  return fail(io, `restarted, and still ${verb} a restart, so a parameter is not in effect: ${names.join('; ')}`);
}

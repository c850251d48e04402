// The leader after a change of it: the answer of the API alone does not tell.
import type { MemberName } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import { fail } from '../command-end.ts';
import type { ClusterContext } from './cluster-context.ts';
import { waitUntil } from './waiting.ts';

const MOST_WAIT_MS = 30_000;

/** Waits until another member than `from` leads. Resolves with the exit code. `to`: undefined for any member. */
export function afterChange(
  from: MemberName | undefined,
  to: MemberName | undefined,
  context: ClusterContext,
): Promise<number> {
  const { io } = context;
  return waitUntil(context, (report, waitedMs) => {
    const leader = report.kind === 'read' ? report.value.leader : null;
    if (leader !== null && leader !== from) {
      if (to !== undefined && leader !== to) io.stderr(`warning: ${leader} is the leader instead of ${to}\n`);
      return { end: EXIT.ok };
    }
    const seen = report.kind === 'unreadable' ? report.why : `the leader is ${leader ?? 'not known'}`;
    if (waitedMs >= MOST_WAIT_MS) return fail(io, `no other leader is seen within ${MOST_WAIT_MS / 1000} s: ${seen}`);
    return `another member must become the leader: ${seen}`;
  });
}

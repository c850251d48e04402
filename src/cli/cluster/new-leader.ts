// The leader after a change of it: the answer of the API alone does not tell.
import type { MemberName } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import { fail } from '../command-end.ts';
import type { ClusterContext } from './cluster-context.ts';
import { tellsWaits } from './waiting.ts';

const POLL_MS = 1000;
const MOST_WAIT_MS = 30_000;

export interface LeaderChange {
  readonly from: MemberName | undefined;
  /** Undefined: any member. */
  readonly to: MemberName | undefined;
}

/** Waits until another member leads. Resolves with the exit code. */
export async function afterChange(
  { from, to }: LeaderChange,
  { control, io, now, sleep }: ClusterContext,
): Promise<number> {
  const since = now().getTime();
  const tell = tellsWaits(io);
  for (;;) {
    const report = await control.report();
    const leader = report.kind === 'read' ? report.value.leader : null;
    if (leader !== null && leader !== from) {
      if (to !== undefined && leader !== to) io.stderr(`warning: ${leader} is the leader instead of ${to}\n`);
      return EXIT.ok;
    }
    const seen = report.kind === 'unreadable' ? report.why : `the leader is ${leader ?? 'not known'}`;
    if (now().getTime() - since >= MOST_WAIT_MS)
      return fail(io, `no other leader is seen within ${MOST_WAIT_MS / 1000} s: ${seen}`);
    tell(`another member must become the leader: ${seen}`);
    await sleep(POLL_MS);
  }
}

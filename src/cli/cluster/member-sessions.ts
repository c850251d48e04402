// How many sessions each member has, from a running Pointsman. Only for the plan: without an answer the plan goes
// without.
import { addressText, type MemberName } from '../../model/member.ts';
import type { CliIo } from '../io.ts';
import { tryDocument } from '../admin-request.ts';
import { runningIfKnown, type RunningOptions } from '../running.ts';
import { statusReader } from '../status/read-status.ts';

export interface SessionCounts {
  /** The admin address. */
  readonly from: string;
  readonly byMember: ReadonlyMap<MemberName, number>;
}

/** With seeds the command is about another cluster than that of a Pointsman on this machine. */
interface MemberSessionsOptions extends RunningOptions {
  readonly seed?: readonly string[] | undefined;
}

export async function sessionsOf(options: MemberSessionsOptions, io: CliIo): Promise<SessionCounts | undefined> {
  if (options.seed !== undefined && options.admin === undefined) return undefined;
  const running = await runningIfKnown(options, io);
  if (running === undefined) return undefined;
  const status = await tryDocument(running, '/status', statusReader);
  if (status === undefined) return undefined;
  const byMember = new Map<MemberName, number>();
  for (const { sessions } of status.pools) {
    for (const [name, count] of Object.entries(sessions?.by_member ?? {})) {
      byMember.set(name, (byMember.get(name) ?? 0) + count);
    }
  }
  return { from: addressText(running.address), byMember };
}

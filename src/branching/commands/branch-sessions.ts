// GET /branches of a running Pointsman: its list, how old that is, and the sessions of each branch.
import type { z } from 'zod';
import { durationText } from '../../core/describe.ts';
import type { Branch } from '../../model/branch.ts';
import { branchesDocument } from '../../documents/branches-document.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import { addressText } from '../../model/member.ts';
import { tryRequest } from '../../cli/admin-request.ts';
import { runningIfKnown } from '../../cli/running.ts';
import type { BranchContext } from './branch-context.ts';

export interface ReportedBranches {
  readonly kind: 'answer';
  /** `the Pointsman at 127.0.0.1:8432` */
  readonly from: string;
  readonly branches: readonly Branch[];
  /** Milliseconds. Undefined: it could not read its list yet. */
  readonly ageMs: number | undefined;
  /** `for 12 min: status 503`. Undefined: its last read of the list succeeded. */
  readonly failing: string | undefined;
  /** By id. A branch without sessions may be absent. */
  readonly sessions: ReadonlyMap<string, number>;
}

export type RunningReport = ReportedBranches | { readonly kind: 'none'; readonly why: string };

const branchesReader = looseReader(branchesDocument, { needed: ['branches id name sessions why for_seconds'] });

/** Never fails: the report only adds to what the source says. */
export async function readRunning({ options, io, configuredBy }: BranchContext): Promise<RunningReport> {
  const running = configuredBy ?? (await runningIfKnown(options, io));
  if (running === undefined) return { kind: 'none', why: 'no admin address of a running Pointsman is known' };
  const from = `the Pointsman at ${addressText(running.address)}`;
  const answer = await tryRequest(running, { method: 'GET', path: '/branches' });
  if (answer.kind === 'failed') return { kind: 'none', why: answer.why };
  const { data } = branchesReader.safeParse(answer.body);
  if (answer.status !== 200 || data === undefined) return { kind: 'none', why: `${from} reports no branches.` };
  const { failing, silent_workers: silent } = data;
  // Their sessions are missing.
  if (silent.length > 0) return { kind: 'none', why: `workers of ${from} do not answer: ${silent.join(', ')}.` };
  return {
    kind: 'answer',
    from,
    branches: data.branches.map(branchOf),
    ageMs: data.age_seconds === null ? undefined : data.age_seconds * 1000,
    failing: failing ? `for ${durationText(failing.for_seconds * 1000)}: ${failing.why}` : undefined,
    sessions: new Map(data.branches.map(({ id, sessions }) => [id, sessions])),
  };
}

function branchOf(reported: z.output<typeof branchesReader>['branches'][number]): Branch {
  return {
    id: reported.id,
    name: reported.name,
    parentId: reported.parent_id ?? undefined,
    parentLsn: reported.parent_lsn ?? undefined,
    lastRecordLsn: reported.last_record_lsn ?? undefined,
    hasReadEndpoint: reported.has_read_endpoint ?? undefined,
  };
}

// Waits until the cluster is as a command needs it, and says on standard error why, each reason once: a wait may take
// minutes.
import type { ControlReading } from '../../cluster/control.ts';
import type { ClusterReport } from '../../documents/cluster-documents.ts';
import type { ClusterContext } from './cluster-context.ts';

const POLL_MS = 1000;

/** Reads the report until `judge` gives an end. A text is the reason to wait on. */
export async function waitUntil<T>(
  { control, io, now, sleep }: ClusterContext,
  judge: (report: ControlReading<ClusterReport>, waitedMs: number) => string | { readonly end: T },
): Promise<T> {
  const since = now().getTime();
  let told: string | undefined;
  for (;;) {
    const judged = judge(await control.report(), now().getTime() - since);
    if (typeof judged !== 'string') return judged.end;
    if (judged !== told) io.stderr(`waiting: ${judged}\n`);
    told = judged;
    await sleep(POLL_MS);
  }
}

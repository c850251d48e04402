// Whether an answer to the request to switch ends the switchover.
import type { OperationResult } from '../../documents/cluster-documents.ts';

/** The cluster did not take the request, so the primary stays. */
export function isRefusal(answer: OperationResult): boolean {
  switch (answer.kind) {
    case 'done':
    case 'scheduled':
      return false;
    case 'no_answer':
      return !answer.may_have_happened;
    case 'failed':
      // Patroni: "Switchover status unknown" when it stopped waiting for the result.
      return !/\bstatus unknown\b/i.test(answer.reason);
    case 'refused':
    case 'invalid':
    case 'precondition':
    case 'unauthorized':
    case 'unexpected':
      return true;
  }
}

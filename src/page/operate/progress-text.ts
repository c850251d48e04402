// The clients and sessions of a switchover so far, in one line. Pure.
import type { OperationDocument } from '../../documents/switchover-document.ts';
import { countText, durationText } from '../view/words.ts';

export function sessionsText({ sessions }: Pick<OperationDocument, 'sessions'>): string {
  const { held, waiting, longest_wait_ms: longest, ended, cut, lost } = sessions;
  const { parked, aborted, moved, move_failed: failed } = sessions;
  const rolledBack = aborted === 0 ? '' : `, ${countText(aborted, 'transaction')} rolled back`;
  const notMoved = failed === 0 ? '' : `, ${failed} could not move`;
  return [
    `${countText(held, 'client')} held, ${waiting} waiting now`,
    ...(held === 0 ? [] : [`the longest wait was ${durationText(longest)}`]),
    ...(parked === 0 ? [] : [`${countText(parked, 'session')} parked${rolledBack}, ${moved} moved${notMoved}`]),
    `${countText(ended, 'session')} ended, ${cut} cut${lost === 0 ? '' : `, ${lost} lost`}`,
  ].join('; ');
}

// The clients and sessions of a switchover so far, in one line. Pure.
import type { OperationDocument } from '../../documents/switchover-document.ts';
import { countText, durationText } from '../view/words.ts';

export function sessionsText({ sessions }: Pick<OperationDocument, 'sessions'>): string {
  const { held, waiting, longest_wait_ms: longest, ended, cut, lost, parked, moved, move_failed: failed } = sessions;
  return [
    `${countText(held, 'client')} held, ${waiting} waiting now`,
    ...(held === 0 ? [] : [`the longest wait was ${durationText(longest)}`]),
    ...(parked === 0
      ? []
      : [`${countText(parked, 'session')} parked, ${moved} moved${failed === 0 ? '' : `, ${failed} could not move`}`]),
    `${countText(ended, 'session')} ended, ${cut} cut${lost === 0 ? '' : `, ${lost} lost`}`,
  ].join('; ');
}

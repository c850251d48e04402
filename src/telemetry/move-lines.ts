// The lines of the events about sessions that move. One session is debug; a line for each batch is info, or a warning
// when a session of it was lost.
import { countText, durationText } from '../core/describe.ts';
import { failureText, pinText, stayText } from '../core/pin-words.ts';
import type { MoveEvent } from '../reports/move-events.ts';
import type { EventOf } from '../reports/events.ts';
import { line, type LogLine } from './line.ts';

type MoveLines = { readonly [Kind in MoveEvent['kind']]: (event: EventOf<Kind>) => LogLine };

export const MOVE_LINES: MoveLines = {
  session_asked: ({ session, member, result, durationMs }) =>
    line(
      'trace',
      () => `session ${session}: ${member} was asked for its state in ${durationText(durationMs)}: ${result}`,
    ),
  session_parked: ({ session, member, cause, hasAborted }) =>
    line('debug', () => {
      const aborted = hasAborted === true ? ', its transaction was rolled back' : '';
      return `session ${session}: parked, has left ${member} (${cause})${aborted}`;
    }),
  move_attempt_failed: ({ session, detail }) =>
    line('debug', () => `session ${session}: not moved yet: ${detail}; another attempt follows`),
  session_moved: ({ session, from, to, gapMs, loginMs, wasWaiting }) =>
    line('debug', () => {
      const gap = `gap ${durationText(gapMs)}, login ${durationText(loginMs)}`;
      const way = from === to ? `came back to ${to}` : `moved from ${from} to ${to}`;
      return `session ${session}: ${way}, ${gap}${wasWaiting ? ', its client waited' : ''}`;
    }),
  session_stayed: ({ session, member, reason, detail }) =>
    line('debug', () => `session ${session}: stays on ${member}, because it ${pinText(reason, detail)}`),
  moves_finished: (event) => line(failureText(event.failed).length === 0 ? 'info' : 'warn', () => finishedText(event)),
  preflight_finished: ({ member, movable, stays, unknown, durationMs }) =>
    line('debug', () => {
      const asked = `${member}: asked all sessions in ${durationText(durationMs)}`;
      return [`${asked}: ${movable} can move`, ...stayText(stays, 'stay'), ...gaveNoAnswer(unknown)].join('; ');
    }),
};

function finishedText({ pool, from, to, moved, stayed, failed, ended, ...event }: EventOf<'moves_finished'>): string {
  const isBack = from !== undefined && from === to;
  const way = isBack ? 'came back' : `moved${from === undefined ? '' : ` from ${from}`}`;
  const goal = to === undefined ? '' : ` to ${to}`;
  const took = ` in ${durationText(event.durationMs)}`;
  const gap = moved === 0 ? '' : `, longest gap ${durationText(event.longestGapMs)}`;
  const sentence = `pool ${pool}: ${countText(moved, 'session')} ${way}${goal}${took}${gap}`;
  const others = ended === 0 ? [] : [`${ended} ended while parked`];
  return [sentence, ...stayText(stayed, 'stayed'), ...failureText(failed), ...others].join('; ');
}

function gaveNoAnswer(unknown: number): readonly string[] {
  return unknown === 0 ? [] : [`${unknown} gave no answer`];
}

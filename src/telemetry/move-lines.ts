// The lines of the events about sessions that move. One session is debug; a line for each batch is info, or a warning
// when a session of it was lost.
import { countText, durationText } from '../core/describe.ts';
import { pinText, staysText } from '../core/pin-words.ts';
import type { MoveFailure } from '../model/close-reason.ts';
import type { PinReason } from '../model/moves.ts';
import { sumOf } from '../model/sums.ts';
import type { Counts, MoveEvent } from '../reports/move-events.ts';
import type { EventOf } from '../reports/events.ts';
import { line, type LogLine } from './line.ts';

type MoveLines = { readonly [Kind in MoveEvent['kind']]: (event: EventOf<Kind>) => LogLine };

export const MOVE_LINES: MoveLines = {
  session_asked: ({ session, member, result, durationMs }) =>
    line(
      'trace',
      () => `session ${session}: ${member} was asked for its state in ${durationText(durationMs)}: ${result}`,
    ),
  session_parked: ({ session, member, cause }) =>
    line('debug', () => `session ${session}: parked, has left ${member} (${cause})`),
  session_moved: ({ session, from, to, gapMs, loginMs, wasWaiting }) =>
    line('debug', () => {
      const gap = `gap ${durationText(gapMs)}, login ${durationText(loginMs)}`;
      const way = from === to ? `came back to ${to}` : `moved from ${from} to ${to}`;
      return `session ${session}: ${way}, ${gap}${wasWaiting ? ', its client waited' : ''}`;
    }),
  session_stayed: ({ session, member, reason, detail }) =>
    line('debug', () => `session ${session}: stays on ${member}, because it ${pinText(reason, detail)}`),
  moves_finished: (event) => line(total(event.failed) === 0 ? 'info' : 'warn', () => finishedText(event)),
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

/** `3 stayed: 2 listen, 1 is busy`, or nothing. */
function stayText(stays: Counts<PinReason>, verb: string): readonly string[] {
  const sum = total(stays);
  return sum === 0 ? [] : [`${sum} ${verb}: ${staysText(stays)}`];
}

/** `3 failed: 2 move_login, 1 move_timeout`, or nothing. */
function failureText(failed: Counts<MoveFailure>): readonly string[] {
  const sum = total(failed);
  const reasons = Object.entries(failed).toSorted(([, a], [, b]) => b - a);
  return sum === 0 ? [] : [`${sum} failed: ${reasons.map(([reason, count]) => `${count} ${reason}`).join(', ')}`];
}

function gaveNoAnswer(unknown: number): readonly string[] {
  return unknown === 0 ? [] : [`${unknown} gave no answer`];
}

function total(counts: Counts<string>): number {
  return sumOf(Object.values(counts), (count = 0) => count);
}

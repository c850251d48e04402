// The words of a script of a session (session-script.ts): what its events and the bytes of its client say.
import type { ProxyEvent } from '../../../src/reports/events.ts';
import type { Preflight } from '../../../src/reports/preflight.ts';
import type { MoveResult } from '../../../src/reports/session-move.ts';
import { COMMAND_COMPLETE, errorOf, readyForQuery } from '../sockets/messages.ts';

const LAST_WORDS = 'terminating connection';

export function lastWords(sqlState = ''): Buffer {
  return errorOf(['SFATAL', 'VFATAL', `C${sqlState}`, `M${LAST_WORDS}`]);
}

export function textOfSession(event: ProxyEvent): readonly string[] {
  const whose = 'session' in event && event.session === 2 ? 'other ' : '';
  return eventText(event).map((text) => `${whose}${text}`);
}

function eventText(event: ProxyEvent): readonly string[] {
  if (event.kind === 'session_asked') return [`asked: ${event.result}`];
  if (event.kind === 'session_stayed') return [`stays: ${event.reason}`];
  if (event.kind === 'session_parked') return [`parked: ${event.cause}${event.hasAborted ? ', aborted' : ''}`];
  if (event.kind === 'session_moved') return [`moved to ${event.to}`];
  return event.kind === 'session_closed' ? [`closed: ${event.reason}`] : [];
}

/** The DETAIL of the last error. */
export function errorDetail(bytes: Buffer): string {
  return [...bytes.toString('latin1').matchAll(/\0D([^\0]*)/g)].at(-1)?.[1] ?? 'no detail';
}

/** Errors by their SQLSTATE, and whole answers. */
export function reading(bytes: Buffer): readonly string[] {
  const text = bytes.toString('latin1');
  const answer = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
  const errors = [...text.matchAll(/\0C([0-9A-Z]{5})\0M([^\0]*)/g)].map(
    ([, code = '', words]) => `${code}${words === LAST_WORDS ? ' of its server' : ''}`,
  );
  const zones = [...text.matchAll(/TimeZone\0([^\0]+)\0/g)].map(([, zone = '']) => zone);
  const read = [
    ...zones,
    ...errors,
    ...Array<string>(text.split(answer.toString('latin1')).length - 1).fill('its answer'),
  ];
  return read.length === 0 ? [] : [`client reads ${read.join(', ')}`];
}

export function moveText(result: MoveResult): string {
  if (!('reason' in result)) return result.kind;
  const why = result.kind === 'stayed' && result.detail !== undefined ? `: ${result.detail}` : '';
  return `${result.kind} ${result.reason}${why}`;
}

export function preflightText(found: Preflight | undefined): string {
  if (found === undefined) return 'no such member';
  const { movable, stays, unknown } = found;
  const reasons = Object.entries(stays).map(([reason, count]) => `${count} ${reason}`);
  return [`${movable} movable`, ...reasons, `${unknown} unknown`].join(', ');
}

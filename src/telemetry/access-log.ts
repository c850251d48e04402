// The access log: a line for each client connection, whatever the level of the log. Its lines are no events: neither
// /events nor an incident has them.
import { durationText } from '../core/describe.ts';
import { sizeText } from '../model/check.ts';
import { onOneLine } from '../model/printable.ts';
import type { ProxyEvent } from '../reports/events.ts';
import { logFields } from './log-fields.ts';
import { placeText, type Event } from './log-lines.ts';

/** `closed`: a line at the end of each connection. `all`: also one when it is connected to a member. */
export type AccessMode = 'off' | 'closed' | 'all';

type OpenedSession = Extract<ProxyEvent, { kind: 'session_opened' }>;
type ClosedSession = Extract<ProxyEvent, { kind: 'session_closed' }>;

export interface AccessLogOptions {
  /** In effect now. */
  readonly mode: () => AccessMode;
  readonly write: (fields: object, text: string) => void;
}

export function createAccessLog({ mode, write }: AccessLogOptions): (event: Event) => void {
  const line = (action: 'opened' | 'closed', event: OpenedSession | ClosedSession, text: string): void =>
    write({ event: 'access', action, ...logFields(event) }, onOneLine(text));
  return (event) => {
    if (event.kind === 'session_closed') {
      if (mode() !== 'off') line('closed', event, closedText(event));
    } else if (event.kind === 'session_opened' && mode() === 'all')
      line('opened', event, `${clientText(event)}: opened`);
  };
}

/** `session 7: app@shop from 10.1.1.1:5000, pool write, pg-1` */
function clientText({ session, user, database, client, pool, member, branch }: OpenedSession | ClosedSession): string {
  const login = user === undefined ? '' : `${user}@${database ?? user} from `;
  const place = member === undefined && branch === undefined ? '' : `, ${placeText(member, branch)}`;
  return `session ${session}: ${login}${client}, pool ${pool}${place}`;
}

function closedText(event: ClosedSession): string {
  const { reason, durationMs, toBackendBytes, toClientBytes } = event;
  const bytes = `${sizeText(toBackendBytes)} sent, ${sizeText(toClientBytes)} received`;
  return `${clientText(event)}: closed after ${durationText(durationMs)} (${reason}), ${bytes}`;
}

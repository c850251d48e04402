// The narration for a person at a terminal: few lines, with many clients summed up in one. The log has the details.
import type { EventOf } from '../reports/events.ts';
import { CLOSE_REASONS } from '../model/close-reason.ts';
import { durationText } from '../core/describe.ts';
import { WaitingClients, isHold, type HoldEvent, type WaitGroup } from '../history/waiting-clients.ts';
import type { LineLevel } from '../telemetry/line.ts';
import { logLine, type Event } from '../telemetry/log-lines.ts';
import { News } from '../telemetry/news.ts';

export interface NarrationOptions {
  readonly write: (line: string, level: LineLevel) => void;
  /** Runs `run` after the current events, so that sessions that close together share a line. */
  readonly later: (run: () => void) => void;
}

/** Their lines would tell of normal operation, of one client, or of something that another line tells. */
const SILENT = [
  'relay_chosen',
  'dial_finished',
  'login_refused',
  'member_tls_verified',
  'discovery_finished',
  'refresh_requested',
  'urgent_probing',
  'config_reloaded',
  'config_reload_failed',
] as const satisfies readonly Event['kind'][];

export function createNarration(options: NarrationOptions): (event: Event) => void {
  const tellWaits = createWaits(options);
  const tellEnd = createEndings(options);
  const news = new News();
  return (event) => {
    if (isHold(event)) return tellWaits(event);
    if (event.kind === 'session_closed') return tellEnd(event);
    if (SILENT.some((kind) => kind === event.kind)) return;
    const { level, text } = logLine(event, news.take(event));
    if (level !== 'debug' && level !== 'trace') options.write(text(), level);
  };
}

/** One line for the first client that waits, and one for all of them when nobody waits any more. */
function createWaits({ write }: NarrationOptions): (event: HoldEvent) => void {
  const waiting = new WaitingClients();
  return (event) => {
    const group = waiting.take(event);
    if (group.now() === 0) write(waitedText(event.pool, group), 'info');
    else if (group.count() === 1) write(`pool ${event.pool}: clients are waiting`, 'info');
  };
}

/** Sessions that close together for one reason share a line. */
function createEndings({ write, later }: NarrationOptions): (event: EventOf<'session_closed'>) => void {
  const counts = new Map<string, number>();
  const writeAll = (): void => {
    for (const [what, count] of counts)
      write(`${count === 1 ? '1 session' : `${count} sessions`} closed on ${what}`, 'info');
    counts.clear();
  };
  return ({ member, reason }) => {
    if (member === undefined || CLOSE_REASONS[reason].side === 'client') return;
    if (counts.size === 0) later(writeAll);
    const key = `${member}: ${reason}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
}

function waitedText(pool: string, group: WaitGroup): string {
  const served = group.ended('released');
  const total = group.count();
  const clients = total === 1 ? '1 client waited' : `${total} clients waited, the longest`;
  const outcome =
    served === total ? 'then connected' : served === 0 ? 'not connected' : `${served} connected, ${total - served} not`;
  return `pool ${pool}: ${clients} ${durationText(group.longestMs())}, ${outcome}`;
}

// The narration for a person at a terminal: few lines, with many clients summed up in one. The log has the details.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import { durationText } from '../core/describe.ts';
import { isMoveEvent } from '../reports/move-events.ts';
import type { LineLevel } from './line.ts';
import { logLine } from './log-lines.ts';
import type { Event } from './log-lines.ts';

export interface NarrationOptions {
  readonly write: (line: string, level: LineLevel) => void;
  /** Runs `run` after the current events, so that sessions that close together share a line. */
  readonly later: (run: () => void) => void;
}

/** The clients of one pool that were held since the last time nobody was. */
interface Waiting {
  now: number;
  served: number;
  unserved: number;
  longestMs: number;
}

export function createNarration(options: NarrationOptions): (event: Event) => void {
  const holds = createHolds(options);
  const endings = createEndings(options, holds);
  const writeAsLogged = (event: Event): void => writeLogged(event, options);
  return (event) => {
    // The line of a batch has its sessions.
    if (isMoveEvent(event)) return event.kind === 'moves_finished' ? writeAsLogged(event) : undefined;
    switch (event.kind) {
      case 'hold_started':
        return holds.started(event.pool, event.session);
      case 'hold_ended':
        return holds.ended(event.pool, event.session, event.outcome === 'released', event.waitedMs);
      case 'session_closed':
        return endings.ended(event);
      case 'standing_changed':
      case 'route_changed':
      case 'members_changed':
      case 'primary_refused':
      case 'primary_accepted':
      case 'member_drained':
      case 'member_resumed':
      case 'standby_report_stale':
      case 'members_refused':
      case 'contact_source_changed':
      case 'listener_failed':
      case 'unexpected_fault':
      case 'worker_started':
      case 'worker_ended':
      case 'certificate_loaded':
      case 'certificate_refused':
      case 'operation_started':
      case 'operation_phase':
      case 'operation_ended':
      case 'outage_summary':
      case 'branch_list_failed':
      case 'branch_list_recovered':
      case 'branch_shadowed':
        return writeAsLogged(event);
      case 'relay_chosen':
      case 'client_accepted':
      case 'dial_finished':
      case 'login_refused':
      case 'session_opened':
      case 'cancel_forwarded':
      case 'probe_finished':
      case 'member_reported':
      case 'discovery_finished':
      case 'refresh_requested':
      case 'urgent_probing':
      case 'config_reloaded':
      case 'config_reload_failed':
      case 'branch_list_read':
      case 'branch_located':
      case 'branch_dial_finished':
      case 'branch_wait_ended':
        return;
    }
  };
}

interface Holds {
  started(pool: string, session: number): void;
  ended(pool: string, session: number, isServed: boolean, waitedMs: number): void;
  isWaiting(session: number): boolean;
}

/** One line for the first client on hold, and one for all of them when the last hold has ended. */
function createHolds({ write }: NarrationOptions): Holds {
  const waiting = new Map<string, Waiting>();
  const sessions = new Set<number>();
  return {
    started(pool, session) {
      sessions.add(session);
      const known = waiting.get(pool);
      if (known !== undefined) {
        known.now += 1;
        return;
      }
      waiting.set(pool, { now: 1, served: 0, unserved: 0, longestMs: 0 });
      write(`pool ${pool}: clients are waiting`, 'info');
    },
    isWaiting: (session) => sessions.has(session),
    ended(pool, session, isServed, waitedMs) {
      const known = waiting.get(pool);
      sessions.delete(session);
      if (known === undefined) return;
      known.now -= 1;
      known.served += isServed ? 1 : 0;
      known.unserved += isServed ? 0 : 1;
      known.longestMs = Math.max(known.longestMs, waitedMs);
      if (known.now > 0) return;
      waiting.delete(pool);
      write(heldText(pool, known), 'info');
    },
  };
}

function writeLogged(event: Event, { write }: NarrationOptions): void {
  const { level, text } = logLine(event, true);
  if (level !== 'debug' && level !== 'trace') write(text(), level);
}

type Closed = Extract<Event, { readonly kind: 'session_closed' }>;

interface Endings {
  ended(event: Closed): void;
}

/** Sessions that close together for one reason share a line. */
function createEndings({ write, later }: NarrationOptions, holds: Holds): Endings {
  const counts = new Map<string, number>();
  const writeAll = (): void => {
    for (const [what, count] of counts)
      write(`${count === 1 ? '1 session' : `${count} sessions`} closed on ${what}`, 'info');
    counts.clear();
  };
  return {
    ended({ pool, session, member, reason, durationMs }) {
      // In a worker that died.
      if (holds.isWaiting(session)) holds.ended(pool, session, false, durationMs);
      if (member === undefined || CLOSE_REASONS[reason].side === 'client') return;
      if (counts.size === 0) later(writeAll);
      const key = `${member}: ${reason}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}

function heldText(pool: string, { served, unserved, longestMs }: Waiting): string {
  const total = served + unserved;
  const clients = total === 1 ? '1 client waited' : `${total} clients waited, the longest`;
  const outcome =
    unserved === 0 ? 'then connected' : served === 0 ? 'not connected' : `${served} connected, ${unserved} not`;
  return `pool ${pool}: ${clients} ${durationText(longestMs)}, ${outcome}`;
}

// What happens, told to a person who watches a terminal: few lines, what many clients met summed up in one. The log has the rest.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import type { CloseReason } from '../model/close-reason.ts';
import { durationText } from '../core/describe.ts';
import type { MonitorEvent, ProxyEvent, ReloadEvent, WorkerEvent } from '../reports/events.ts';
import { logLine } from './log-lines.ts';

type Event = ProxyEvent | WorkerEvent | MonitorEvent | ReloadEvent;

export interface NarrationOptions {
  readonly tell: (line: string) => void;
  /** Runs it after the events of this step: sessions that end together are told together. */
  readonly later: (run: () => void) => void;
}

/** Clients of one pool that wait, since there was none. */
interface Waiting {
  now: number;
  served: number;
  unserved: number;
  longestMs: number;
}

/** These end sessions in the ordinary course of things. */
const ORDINARY: readonly CloseReason[] = ['cancel_forwarded', 'startup_timeout'];

export function createNarration(options: NarrationOptions): (event: Event) => void {
  const holds = createHolds(options);
  const endings = createEndings(options);
  const tellAsLogged = (event: Event): void => {
    const { level, text } = logLine(event, true);
    if (level !== 'debug' && level !== 'trace') options.tell(text());
  };
  return (event) => {
    switch (event.kind) {
      case 'hold_started':
        return holds.started(event.pool);
      case 'hold_ended':
        return holds.ended(event.pool, event.outcome === 'released', event.waitedMs);
      case 'session_closed':
        return endings.ended(event.member, event.reason);
      case 'standing_changed':
        // The route says it, and in which pool's place.
        if (event.to.why.code === 'fallback') return;
        return tellAsLogged(event);
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
      case 'worker_started':
      case 'worker_ended':
      case 'certificate_loaded':
      case 'certificate_refused':
        return tellAsLogged(event);
      case 'relay_chosen':
      case 'client_accepted':
      case 'dial_finished':
      case 'session_opened':
      case 'cancel_forwarded':
      case 'probe_finished':
      case 'discovery_finished':
      case 'refresh_asked':
      case 'urgent_probing':
      case 'config_reloaded':
      case 'config_reload_failed':
        return;
    }
  };
}

interface Holds {
  started(pool: string): void;
  ended(pool: string, isServed: boolean, waitedMs: number): void;
}

/** Tells of the first client that waits, and of all of them when the last one's wait is over. */
function createHolds({ tell }: NarrationOptions): Holds {
  const waiting = new Map<string, Waiting>();
  return {
    started(pool) {
      const known = waiting.get(pool);
      if (known !== undefined) {
        known.now += 1;
        return;
      }
      waiting.set(pool, { now: 1, served: 0, unserved: 0, longestMs: 0 });
      tell(`pool ${pool}: a client waits`);
    },
    ended(pool, isServed, waitedMs) {
      const known = waiting.get(pool);
      if (known === undefined) return;
      known.now -= 1;
      known.served += isServed ? 1 : 0;
      known.unserved += isServed ? 0 : 1;
      known.longestMs = Math.max(known.longestMs, waitedMs);
      if (known.now > 0) return;
      waiting.delete(pool);
      tell(heldText(pool, known));
    },
  };
}

interface Endings {
  ended(member: string | undefined, reason: CloseReason): void;
}

/** Sessions that end in one step for one reason are one line. */
function createEndings({ tell, later }: NarrationOptions): Endings {
  const counts = new Map<string, number>();
  const tellAll = (): void => {
    for (const [what, count] of counts) tell(`${count === 1 ? '1 session' : `${count} sessions`} ended on ${what}`);
    counts.clear();
  };
  return {
    ended(member, reason) {
      if (member === undefined || CLOSE_REASONS[reason].side === 'client' || ORDINARY.includes(reason)) return;
      if (counts.size === 0) later(tellAll);
      const key = `${member}: ${reason}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}

function heldText(pool: string, { served, unserved, longestMs }: Waiting): string {
  const total = served + unserved;
  const who = total === 1 ? '1 client was held for' : `${total} clients were held, the longest for`;
  const outcome =
    unserved === 0 ? 'then served' : served === 0 ? 'and not served' : `${served} served, ${unserved} not`;
  return `pool ${pool}: ${who} ${durationText(longestMs)}, ${outcome}`;
}

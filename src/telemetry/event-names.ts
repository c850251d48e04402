// The names of events that a reader of GET /events can ask for: those of lines of level info and above.
import { EVENT_KINDS, type EventKind } from './log-lines.ts';

/** Lines that are no event of the shells. deploy/log-events.md has them as well. */
const OTHER_LINES = [
  'config_not_reloaded',
  'config_warning',
  'incidents_not_written',
  'listening',
  'not_listening',
  'open_files_limit',
  'ready',
  'record_failed',
  'repeated',
  'starting',
  'stopped',
  'stopping',
  'systemd_notify_failed',
  'token_unusable',
];

/** Always below info. */
const IN_LOG_ALONE = new Set<string>([
  'branch_dial_finished',
  'branch_list_read',
  'branch_located',
  'branch_wait_ended',
  'cancel_forwarded',
  'client_accepted',
  'hold_ended',
  'hold_started',
  'member_reported',
  'preflight_finished',
  'probe_finished',
  'session_asked',
  'session_moved',
  'session_opened',
  'session_parked',
  'session_stayed',
] satisfies readonly EventKind[]);

export const EVENT_NAMES: readonly string[] = [
  ...EVENT_KINDS.filter((kind) => !IN_LOG_ALONE.has(kind)),
  ...OTHER_LINES,
].toSorted();

// The names of events that a reader of GET /events can ask for: those of lines of level info and above.
import { isStreamed } from '../reports/event-parts.ts';
import { EVENT_CLASSES } from '../reports/events.ts';

/** Lines that are no event of the shells. deploy/log-events.md has them as well. */
const OTHER_LINES = [
  'config_not_reloaded',
  'config_warning',
  'incidents_not_written',
  'listening',
  'not_listening',
  'open_files_limit',
  'passthrough_limits',
  'ready',
  'record_failed',
  'repeated',
  'starting',
  'stopped',
  'stopping',
  'systemd_notify_failed',
  'token_unusable',
];

export const EVENT_NAMES: readonly string[] = [
  ...Object.entries(EVENT_CLASSES).flatMap(([kind, of]) => (isStreamed(of) ? [kind] : [])),
  ...OTHER_LINES,
].toSorted();

// Connects the flight recorder with the parts that it watches.
import type { CoreParts } from './reload.ts';
import type { Config } from '../config/config.ts';
import { FlightRecorder } from '../incidents/recorder.ts';
import { onOneLine } from '../model/printable.ts';
import type { EventIds } from '../reports/event-ids.ts';
import type { Log } from '../telemetry/log.ts';
import { logFields } from '../telemetry/log-fields.ts';
import { logLine } from '../telemetry/log-lines.ts';
import { processCount } from './proxy-or-workers.ts';

export interface IncidentOptions extends CoreParts {
  readonly ids: EventIds;
  readonly log: Log;
  readonly version: string;
  readonly config: Config;
}

export function createIncidents(options: IncidentOptions): FlightRecorder {
  const { clock, ids, log, version, config, running, monitor, proxy } = options;
  return new FlightRecorder({
    clock,
    wallClock: () => Date.now(),
    ids,
    version,
    workers: processCount(config),
    words: { message: (event) => onOneLine(logLine(event, true).text()), fields: logFields },
    known: () => ({ table: monitor.table(), snapshot: monitor.snapshot(), pools: running.config.pools }),
    counts: () => proxy.counts(),
    onFault: (error) => log.error({ event: 'record_failed', of: 'incident', err: error }, 'cannot record an incident'),
    archive: {
      ...config.incidents,
      onFailing: (why) =>
        log.warn(
          { event: 'incidents_not_written' },
          `incidents cannot be written to disk, keeping them in memory: ${why}`,
        ),
    },
  });
}

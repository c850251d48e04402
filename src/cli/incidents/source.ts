// The parts of an incident that the commands show, and the form of their source.
import type { RunningOptions } from '../running.ts';

export interface IncidentsOptions extends RunningOptions {
  /** Reads the files there. Default: the running Pointsman. */
  readonly directory?: string | undefined;
  readonly json?: boolean | undefined;
}

/** As GET /incidents has it. */
export interface IncidentRow {
  readonly id: string;
  readonly state: string;
  readonly opened_at: string;
  readonly settled_at: string | null;
  readonly kinds: readonly string[];
  readonly planned: string;
  readonly no_write_route_seconds: number | null;
  readonly summary: string;
}

export interface ShowHow {
  readonly isJson: boolean;
  /** Without redaction. */
  readonly isFull: boolean;
}

export interface IncidentSource {
  readonly list: () => Promise<readonly IncidentRow[]>;
  /** `id` may be `latest`. */
  readonly show: (id: string, how: ShowHow) => Promise<string>;
}

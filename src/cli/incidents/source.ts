// The parts of an incident that the commands show, and the form of their source.
import type { IncidentListDocument } from '../../documents/incident-list.ts';
import type { Loose } from '../../documents/loose-reader.ts';
import type { RunningOptions } from '../running.ts';

export interface IncidentsOptions extends RunningOptions {
  /** Reads the files there. Default: the running Pointsman. */
  readonly directory?: string | undefined;
}

export type IncidentRow = Loose<IncidentListDocument['incidents'][number]>;

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

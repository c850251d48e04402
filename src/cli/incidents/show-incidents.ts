// `pointsman incidents list` and `show`: from a running Pointsman, or from the files in its directory.
import { durationText } from '../../core/describe.ts';
import { utcTime } from '../events/event.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { paintFor, type Paint } from '../terminal/colour.ts';
import { tableText, widthFor } from '../terminal/terminal-table.ts';
import { sourceOf, type IncidentRow, type IncidentsOptions } from './incident-source.ts';

export interface ShowIncidentOptions extends IncidentsOptions {
  /** Without redaction. */
  readonly full?: boolean | undefined;
}

export async function listIncidents(options: IncidentsOptions, io: CliIo): Promise<number> {
  const { entries } = await sourceOf(options, io);
  if (options.json === true) io.stdout(json({ incidents: entries }));
  else io.stdout(entries.length === 0 ? 'no incidents\n' : listText(entries, io));
  return EXIT.ok;
}

export async function showIncident(id: string, options: ShowIncidentOptions, io: CliIo): Promise<number> {
  const source = await sourceOf(options, io);
  const text = await source.show(id, { isJson: options.json === true, isFull: options.full === true });
  io.stdout(text.endsWith('\n') ? text : `${text}\n`);
  return EXIT.ok;
}

/** A planned incident is a change, and no trouble. */
const KINDS: Readonly<Record<string, string>> = { planned: 'change', unplanned: 'incident', unknown: 'unclear' };

function kindText({ planned }: IncidentRow, paint: Paint): string {
  const kind = KINDS[planned] ?? planned;
  return planned === 'planned' ? kind : paint('warn', kind);
}

/** One that never settled was open when Pointsman ended. */
function stateText({ state, settled_at: settledAt }: IncidentRow, paint: Paint): string {
  if (state === 'open') return paint('bad', state);
  return settledAt === null ? 'interrupted' : state;
}

function listText(entries: readonly IncidentRow[], io: CliIo): string {
  const paint = paintFor(io);
  const rows = entries.map((entry) => [
    entry.id,
    stateText(entry, paint),
    utcTime(entry.opened_at),
    entry.no_write_route_seconds === null ? '-' : durationText(entry.no_write_route_seconds * 1000),
    kindText(entry, paint),
    entry.summary,
  ]);
  const columns = [
    { title: 'ID' },
    { title: 'STATE' },
    { title: 'BEGAN' },
    { title: 'NO WRITES', align: 'right' },
    { title: 'KIND', optional: 1 },
    { title: 'WHAT', wraps: true },
  ] as const;
  return tableText(columns, rows, widthFor(io));
}

// The commands about incidents. Each is loaded when it is used.
import type { CliCommand } from '../cli-command.ts';
import type { CliIo } from '../io.ts';
import type { ShowIncidentOptions } from './show-incidents.ts';
import type { IncidentsOptions } from './incident-source.ts';

const HELP = `
The incidents come from the running Pointsman. With --directory they come from the files in incidents.directory: this
works when Pointsman is dead, and with a copy of the files. If Pointsman does not answer, the incidents.directory of
the configuration is read instead.`;

const SHOW_HELP = `
Names such as client-1 stand for the addresses, users, databases and applications of clients. --full shows them;
it needs the admin token, or the right to read the files.
Exit codes: 0 success, 1 there is no such incident, or no answer, 2 wrong usage.`;

/** A command that reads incidents, from wherever they are. */
export function readingCommand(incidents: CliCommand, name: string, description: string): CliCommand {
  return incidents
    .remote(name, description)
    .option('--directory <directory>', 'read the files in this directory')
    .option('--json', 'print JSON');
}

export function describeIncidents(program: CliCommand, io: CliIo): void {
  const incidents = program
    .command('incidents')
    .description('Show the record of outages: what happened, for how long, and which sessions were cut')
    .addHelpText('after', HELP)
    .examples('pointsman incidents list', 'pointsman incidents show latest');
  readingCommand(incidents, 'list', 'List the incidents, the newest first')
    .examples('pointsman incidents list', 'pointsman incidents list --directory /var/lib/pointsman')
    .runs(async (options: IncidentsOptions) => (await import('./show-incidents.ts')).listIncidents(options, io));
  readingCommand(incidents, 'show', 'Print one incident as a text for a ticket, or as JSON')
    .argument('<incident>', 'its id, or latest')
    .option('--full', 'show the addresses, users, databases and applications of clients')
    .addHelpText('after', SHOW_HELP)
    .examples('pointsman incidents show latest', 'pointsman incidents show 2026-11-22-1 --json')
    .runs(async (id: string, options: ShowIncidentOptions) =>
      (await import('./show-incidents.ts')).showIncident(id, options, io),
    );
}

// The commands about incidents. Each is loaded when it is used.
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import type { ShowOptions } from './incidents.ts';
import type { IncidentsOptions } from './source.ts';

const HELP = `
The incidents come from the running Pointsman. With --directory they come from the files in incidents.directory: this
works when Pointsman is dead, and with a copy of the files. If Pointsman does not answer, the incidents.directory of
the configuration is read instead.`;

const SHOW_HELP = `
Names such as client-1 stand for the addresses, users and databases of clients. --full shows them; it needs the admin
token, or the right to read the files.
Exit codes: 0 success, 1 there is no such incident, or no answer, 2 wrong usage.`;

export function describeIncidents(program: Command, io: CliIo, end: (code: number) => void): void {
  const incidents = program
    .command('incidents')
    .description('Show the record of outages: what happened, for how long, and which sessions were cut')
    .addHelpText('after', HELP)
    .addHelpText('after', examples('pointsman incidents list', 'pointsman incidents show latest'));
  const reading = (name: string, description: string): Command =>
    incidents
      .command(name)
      .description(description)
      .option('-c, --config <file>', 'the configuration file (YAML)')
      .option('--admin <address>', 'HOST:PORT or URL of the running Pointsman (default: admin.address)')
      .option('--directory <directory>', 'read the files in this directory')
      .option('--json', 'print JSON');
  reading('list', 'List the incidents, the newest first')
    .addHelpText(
      'after',
      examples('pointsman incidents list', 'pointsman incidents list --directory /var/lib/pointsman'),
    )
    .action(async (options: IncidentsOptions) =>
      end(await (await import('./incidents.ts')).listIncidents(options, io)),
    );
  reading('show', 'Print one incident as a text for a ticket, or as JSON')
    .argument('<incident>', 'its id, or latest')
    .option('--full', 'show the addresses, users and databases of clients')
    .addHelpText('after', SHOW_HELP)
    .addHelpText('after', examples('pointsman incidents show latest', 'pointsman incidents show 2026-11-22-1 --json'))
    .action(async (id: string, options: ShowOptions) =>
      end(await (await import('./incidents.ts')).showIncident(id, options, io)),
    );
}

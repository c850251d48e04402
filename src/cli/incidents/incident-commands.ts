// The commands about incidents. Each is loaded when it is used.
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import { LOCATION } from '../location.ts';
import type { PlatformParts } from '../platform/platform-context.ts';
import { withMessageOptions } from '../platform/message.ts';
import type { ShowOptions } from './show-incidents.ts';
import type { RequestOptions } from './incident-request.ts';
import type { IncidentsOptions } from './source.ts';
import type { UploadOptions } from './upload.ts';

const HELP = `
The incidents come from the running Pointsman. With --directory they come from the files in incidents.directory: this
works when Pointsman is dead, and with a copy of the files. If Pointsman does not answer, the incidents.directory of
the configuration is read instead.`;

const SHOW_HELP = `
Names such as client-1 stand for the addresses, users, databases and applications of clients. --full shows them;
it needs the admin token, or the right to read the files.
Exit codes: 0 success, 1 there is no such incident, or no answer, 2 wrong usage.`;

const UPLOAD_HELP = `
The text is that of \`pointsman incidents show\`, redacted: names stand for the addresses, users, databases and
applications of clients. It is sent to the platform of the section platform in the configuration. An incident that is
stored already is not sent again; one that was open is, when it has settled. The note of it is beside the incident, or
in $XDG_STATE_HOME/pointsman/uploads.`;

const REQUEST_HELP = `
Prints the headers and the body of a message request that refers to the stored incident, and with --skill to the skill.
Nothing is sent: the path of message creation belongs to your platform. The key is not printed.`;

interface Tree {
  readonly io: CliIo;
  readonly parts: PlatformParts;
  readonly end: (code: number) => void;
}

export function describeIncidents(
  program: Command,
  io: CliIo,
  parts: PlatformParts,
  end: (code: number) => void,
): void {
  const incidents = program
    .command('incidents')
    .description('Show the record of outages: what happened, for how long, and which sessions were cut')
    .addHelpText('after', HELP)
    .addHelpText('after', examples('pointsman incidents list', 'pointsman incidents show latest'));
  const reading = (name: string, description: string): Command =>
    incidents
      .command(name)
      .description(description)
      .option(...LOCATION.config)
      .option(...LOCATION.admin)
      .option('--directory <directory>', 'read the files in this directory')
      .option('--json', 'print JSON');
  reading('list', 'List the incidents, the newest first')
    .addHelpText(
      'after',
      examples('pointsman incidents list', 'pointsman incidents list --directory /var/lib/pointsman'),
    )
    .action(async (options: IncidentsOptions) =>
      end(await (await import('./show-incidents.ts')).listIncidents(options, io)),
    );
  reading('show', 'Print one incident as a text for a ticket, or as JSON')
    .argument('<incident>', 'its id, or latest')
    .option('--full', 'show the addresses, users, databases and applications of clients')
    .addHelpText('after', SHOW_HELP)
    .addHelpText('after', examples('pointsman incidents show latest', 'pointsman incidents show 2026-11-22-1 --json'))
    .action(async (id: string, options: ShowOptions) =>
      end(await (await import('./show-incidents.ts')).showIncident(id, options, io)),
    );
  describePlatform(reading, { io, parts, end });
}

type Reading = (name: string, description: string) => Command;

function describePlatform(reading: Reading, { io, parts, end }: Tree): void {
  reading('upload', 'Store the redacted text of an incident on the platform')
    .argument('<incident>', 'its id, or latest')
    .option('--again', 'also when it is stored already')
    .addHelpText('after', UPLOAD_HELP)
    .addHelpText('after', examples('pointsman incidents upload latest'))
    .action(async (id: string, options: UploadOptions) =>
      end(await (await import('./upload.ts')).uploadIncident(id, options, io, parts)),
    );
  withMessageOptions(
    reading('request', 'Print a message request about a stored incident, and send nothing')
      .argument('<incident>', 'its id, or latest')
      .option('--skill <skill>', 'a skill by its id, or by its name if it was published from here; ID:VERSION')
      .option('--record <file>', 'the record of published skills'),
  )
    .addHelpText('after', REQUEST_HELP)
    .addHelpText(
      'after',
      examples('pointsman incidents request latest --skill pointsman-runbook --model vendor-opus-5 --max-tokens 4096'),
    )
    .action(async (id: string, options: RequestOptions) =>
      end(await (await import('./incident-request.ts')).requestAboutIncident(id, options, io)),
    );
}

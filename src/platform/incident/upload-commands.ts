// `pointsman incidents upload` and `request`: beside the commands that read incidents. Each is loaded when it is used.
import type { CliCommand } from '../../cli/cli-command.ts';
import { readingCommand } from '../../cli/incidents/incident-commands.ts';
import type { CliIo } from '../../cli/io.ts';
import { withMessageOptions } from '../message-options.ts';
import type { PlatformParts } from '../platform-context.ts';
import type { IncidentRequestOptions } from './incident-request.ts';
import type { UploadOptions } from './upload-incident.ts';

const UPLOAD_HELP = `
The text is that of \`pointsman incidents show\`, redacted: names stand for the addresses, users, databases and
applications of clients. It is sent to the platform of the section platform in the configuration. An incident that is
stored already is not sent again; one that was open is, when it has settled. The note of it is beside the incident, or
in $XDG_STATE_HOME/pointsman/uploads.`;

const REQUEST_HELP = `
Prints the headers and the body of a message request that refers to the stored incident, and with --skill to the skill.
Nothing is sent: the path of message creation belongs to your platform. The key is not printed.`;

/** Adds the commands to `incidents`, which has those that read. */
export function describeUploads(incidents: CliCommand, io: CliIo, parts: PlatformParts): void {
  readingCommand(incidents, 'upload', 'Store the redacted text of an incident on the platform')
    .argument('<incident>', 'its id, or latest')
    .option('--again', 'also when it is stored already')
    .addHelpText('after', UPLOAD_HELP)
    .examples('pointsman incidents upload latest')
    .runs(async (id: string, options: UploadOptions) =>
      (await import('./upload-incident.ts')).uploadIncident(id, options, io, parts),
    );
  withMessageOptions(
    readingCommand(incidents, 'request', 'Print a message request about a stored incident, and send nothing')
      .argument('<incident>', 'its id, or latest')
      .option('--skill <skill>', 'a skill by its id, or by its name if it was published from here; ID:VERSION')
      .option('--record <file>', 'the record of published skills'),
  )
    .addHelpText('after', REQUEST_HELP)
    .examples('pointsman incidents request latest --skill pointsman-runbook --model vendor-opus-5 --max-tokens 4096')
    .runs(async (id: string, options: IncidentRequestOptions) =>
      (await import('./incident-request.ts')).requestAboutIncident(id, options, io),
    );
}

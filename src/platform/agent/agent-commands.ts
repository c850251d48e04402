// `pointsman agent …` on the command line. Loaded when it is used.
import type { CliCommand } from '../../cli/cli-command.ts';
import type { CliIo } from '../../cli/io.ts';
import type { PlatformParts } from '../platform-context.ts';
import type { CreateAgentOptions } from './create-agent.ts';

const CREATE_HELP = `
The file is the body of the request, as your platform documents it: Pointsman adds the key and the beta value, and
changes nothing. The request is sent once. If its answer gets lost, look at the platform before you repeat it.`;

export function describeAgent(program: CliCommand, io: CliIo, parts: PlatformParts): void {
  program
    .command('agent')
    .description('Store the configuration of an agent on the platform')
    .examples('pointsman agent create --file agent.json')
    .command('create')
    .description('Store the configuration of an agent')
    .option('-c, --config <file>', 'the configuration file (YAML) with the section platform')
    .requiredOption('--file <file>', 'JSON')
    .addHelpText('after', CREATE_HELP)
    .examples('pointsman agent create --file agent.json')
    .runs(async (options: CreateAgentOptions) => (await import('./create-agent.ts')).createAgent(options, io, parts));
}

// `pointsman agent …` on the command line. Loaded when it is used.
import type { Command } from 'commander';
import { examples } from '../../cli/examples.ts';
import type { CliIo } from '../../cli/io.ts';
import type { PlatformParts } from '../platform-context.ts';
import type { CreateAgentOptions } from './create-agent.ts';

const CREATE_HELP = `
The file is the body of the request, as your platform documents it: Pointsman adds the key and the beta value, and
changes nothing. The request is sent once. If its answer gets lost, look at the platform before you repeat it.`;

export function describeAgent(program: Command, io: CliIo, parts: PlatformParts, end: (code: number) => void): void {
  program
    .command('agent')
    .description('Store the configuration of an agent on the platform')
    .addHelpText('after', examples('pointsman agent create --file agent.json'))
    .command('create')
    .description('Store the configuration of an agent')
    .option('-c, --config <file>', 'the configuration file (YAML) with the section platform')
    .requiredOption('--file <file>', 'JSON')
    .addHelpText('after', CREATE_HELP)
    .addHelpText('after', examples('pointsman agent create --file agent.json'))
    .action(async (options: CreateAgentOptions) =>
      end(await (await import('./create-agent.ts')).createAgent(options, io, parts)),
    );
}

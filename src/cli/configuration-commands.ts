// The commands about a configuration: `init`, `check` and `config`. Each is loaded when it is used.
import type { CliCommand } from './cli-command.ts';
import { describeInit } from './init/describe-init.ts';
import type { CheckOptions } from './check.ts';
import type { PrintOptions } from './config.ts';
import type { CliIo } from './io.ts';
import type { CheckSeeds } from './live-check.ts';

const CHECK_HELP = `
With --live the exit code is 1 if no seed answers, if a member would be refused, if no primary would be usable, if
backend.tls does not accept its certificate, if the verifiers for moves cannot be read, or if the source of branches
refuses the request for their list. Nothing is bound or changed.

Example:
  pointsman check -c pointsman.yaml --live`;

const CONFIG_HELP = `
Examples:
  pointsman config print -c pointsman.yaml --only-changed
  pointsman config example > pointsman.yaml`;

const PRINT_HELP = `
The output is YAML that loads. A comment behind each value names its origin: default, a line of the file, an
environment variable, an option of the command line, or the key that it is derived from. No secret is shown.

Example:
  pointsman config print -c pointsman.yaml --only-changed`;

const PAGES = {
  schema: 'the JSON Schema of the file, for editors',
  reference: 'every key as a page in Markdown',
  example: 'a file with every key and its default',
} as const;

export function describeConfiguration(program: CliCommand, io: CliIo, checkSeeds: CheckSeeds): void {
  describeInit(program, io, checkSeeds);
  program
    .configured('check', 'Validate a configuration and print a summary')
    .argument('[file]', 'as -c FILE')
    .option(
      '--live',
      'also read the member list from each seed, probe the members, try their PostgreSQL ports, ask for the ' +
        'verifiers of roles that move, and list the branches',
    )
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'print only problems and warnings')
    .addHelpText('after', CHECK_HELP)
    .runs(async (file: string | undefined, { config = file, ...options }: CheckOptions) =>
      (await import('./check.ts')).check({ ...options, config }, io, checkSeeds),
    );
  const config = program
    .command('config')
    .description('Print the configuration in effect, or what is generated from the descriptions of its keys')
    .addHelpText('after', CONFIG_HELP);
  config
    .configured('print', 'Print the configuration in effect, and where each value comes from')
    .option('--only-changed', 'only values that differ from the default')
    .option('--json', 'print JSON')
    .addHelpText('after', PRINT_HELP)
    .runs(async (options: PrintOptions) => (await import('./config.ts')).printConfig(options, io));
  for (const page of ['schema', 'reference', 'example'] as const) {
    config
      .command(page)
      .description(`Print ${PAGES[page]}`)
      .addHelpText('after', `\nExample:\n  pointsman config ${page}`)
      .runs(async () => (await import('./config.ts')).printPage(page, io));
  }
}

// `pointsman computer`, as commander sees it.
import { collected, LOCATION, type CliCommand } from '../../cli/cli-command.ts';
import type { CliIo } from '../../cli/io.ts';
import { withMessageOptions } from '../message-options.ts';
import type { ComputerOptions } from './computer.ts';
import type { ToolRequestOptions } from './tool-request.ts';

const HELP = `
Each line of standard input is one turn: an array of tool_use blocks, or the message that has them as its content.
Each line of standard output is the array of their tool_result blocks, for the next request. The blocks of a turn run
in their order; after the first that fails, the others get an error and are not executed.

By default a click changes nothing: the browser sends GET requests alone, and the result of the click has the command
that a person can run instead. The page can send requests to its own address only.

It needs Chromium, and the npm package playwright-core, which Pointsman does not install.
Exit codes: 0 the input ended, 1 no browser or no page, 2 wrong usage, or a line that is no turn.`;

const REQUEST_HELP = `
It prints the headers and the body, and sends nothing. Newer models need no beta header. For older models the name of
the header is platform.beta_header of the configuration, or --beta-header.`;

export function describeComputer(program: CliCommand, io: CliIo): void {
  const computer = program
    .command('computer')
    .description('Let an agent look at the status page and use it, in a headless Chromium of this machine')
    .option('--url <url>', 'the page, such as http://127.0.0.1:8432/')
    .option('--browser <file>', 'the program of the browser (default: chromium or google-chrome in PATH)')
    .option('--allow-remote', 'the page may be on another machine')
    .option('--allow-operations', 'clicks may change something: a switchover, a drain')
    .option('--no-sandbox', 'run Chromium without its own sandbox, as in most containers')
    .addHelpText('after', HELP)
    .examples('pointsman computer --url http://127.0.0.1:8432/')
    .runs(async (options: ComputerOptions) => (await import('./computer.ts')).computer(options, io));
  withMessageOptions(
    computer.command('request').description('Print a message request that declares the computer tool to a model'),
  )
    .option('--one-action', 'the model asks for one action a turn')
    .option(
      '--tool-field <name=value>',
      'a further field of the tool, for an older model; repeat it for several',
      collected,
      [],
    )
    .option('--beta-header <name>', 'the header for beta values (default: platform.beta_header)')
    .option(...LOCATION.config)
    .addHelpText('after', REQUEST_HELP)
    .examples('pointsman computer request --model vendor-opus-5 --max-tokens 4096')
    .runs(async (options: ToolRequestOptions) => (await import('./tool-request.ts')).printToolRequest(options, io));
}

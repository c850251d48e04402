// The command line: parses argv, runs the command, and returns an exit code: 0, 1 (runtime failure) or 2 (wrong usage
// or configuration).
import { CommanderError, Option } from 'commander';
import { CliCommand } from './cli-command.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../config/schema/log-options.ts';
import { CommandEnd } from './command-end.ts';
import { STANDARD_INPUT } from '../config/source/read-file.ts';
import { configFor, load, type ConfigOptions } from './configuration.ts';
import { helpWithin } from './help-text.ts';
import { EXIT, type CliIo } from './io.ts';
import type { CliParts } from './parts.ts';
import { withOwnNames } from './patronictl-names.ts';

const EXAMPLES = `
Examples:
  pointsman run -c /etc/pointsman/pointsman.yaml
  pointsman check -c pointsman.yaml --live
  POINTSMAN_CLUSTER_SEEDS=http://10.0.0.11:8008 pointsman run
  pointsman explain --pool read
  pointsman sessions --pool write
  pointsman drain pg-2 --wait
  pointsman accept timeline
  pointsman cluster list --seed http://10.0.0.11:8008
  pointsman branches create pr-1
  pointsman sandbox

The configuration comes from -c FILE, else from the file in POINTSMAN_CONFIG, else from the environment alone.
An environment variable overrides a value of the file: POINTSMAN_PROBE_INTERVAL sets probe.interval.
Exit codes: 0 success, 1 runtime failure, 2 wrong usage or configuration, 130 ended by Ctrl-C.`;

const RUN = 'run';

/** Runs the command in `argv`, the arguments after `pointsman`. Resolves with the exit code; never rejects. */
export async function runCli(argv: readonly string[], io: CliIo, parts: CliParts): Promise<number> {
  const program = describeRun(io, parts);
  // Their description takes 15 ms, a twentieth of a proxy's start.
  if (argv[0] !== RUN) await (await import('./commands.ts')).describeOthers(program, io, parts);
  nameHelp(program, 'pointsman');
  try {
    await program.parseAsync(withOwnNames(argv, program), { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommandEnd) return error.code;
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.stderr(`pointsman: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.failure;
  }
}

/** The program with the one command `run`. */
function describeRun(io: CliIo, { runApp, version }: CliParts): CliCommand {
  const width = (): number => Math.min(100, io.screen?.size().columns ?? 80);
  const program = new CliCommand('pointsman')
    .description(
      'A TCP proxy for PostgreSQL clusters run by Patroni: it routes writes to the primary and reads to replicas.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    // `pointsman skill delete ID --version V` is not about the version of the program.
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES)
    .configureOutput({
      writeOut: (text) => io.stdout(helpWithin(width(), text)),
      writeErr: io.stderr,
      outputError: (text, write) => write(text.replace(/^error: /, 'pointsman: ')),
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
    .exitOverride();
  program
    .configured(RUN, 'Run the proxy until SIGTERM or SIGINT')
    .addOption(new Option('--log-level <level>', 'override log.level').choices(LOG_LEVELS))
    .addOption(new Option('--log-format <format>', 'override log.format').choices(LOG_FORMATS))
    .examples('pointsman run -c /etc/pointsman/pointsman.yaml')
    .runs((options: ConfigOptions) => {
      const loaded = configFor(options, io);
      const isFile = loaded.file !== undefined && loaded.file !== STANDARD_INPUT;
      return runApp({ ...loaded, reload: () => (isFile ? load(options, io) : { kind: 'no_file' }) });
    });
  return program;
}

/** After a wrong usage each command names its own help. */
function nameHelp(command: CliCommand, path: string): void {
  command.showHelpAfterError(`Run \`${path} --help\` for usage.`);
  for (const child of command.commands) nameHelp(child, `${path} ${child.name()}`);
}

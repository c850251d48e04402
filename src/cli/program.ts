// The command line. Reads argv, picks the command, and turns every end into an exit code: 0, 1 (failed while running) or
// 2 (wrong configuration or usage).
import { Command, CommanderError, Option } from 'commander';
import { LOG_FORMATS, LOG_LEVELS } from '../config/schema/log-options.ts';
import type { CheckOptions } from './check.ts';
import type { ConfigOptions } from './configuration.ts';
import type { ExplainOptions } from './explain.ts';
import type { HealthcheckOptions } from './healthcheck.ts';
import { EXIT } from './io.ts';
import type { CliIo, RunApp, SandboxParts, Survey } from './io.ts';
import { describeOperations } from './operations.ts';
import { run } from './run.ts';
import { describeSandbox } from './sandbox.ts';

const EXAMPLES = `
Examples:
  pointsman run -c /etc/pointsman/pointsman.yaml
  pointsman check -c pointsman.yaml --live
  POINTSMAN_CLUSTER_SEEDS=http://10.0.0.11:8008 pointsman run
  pointsman explain --pool read
  pointsman drain pg-2
  pointsman accept timeline
  pointsman sandbox

The file is -c FILE, else the one POINTSMAN_CONFIG names; without either the environment alone is used.
Every value of it can be overridden: probe.interval is POINTSMAN_PROBE_INTERVAL.
Exit codes: 0 ended in order, 1 failed while running, 2 wrong configuration or usage.`;

export interface CliParts {
  readonly runApp: RunApp;
  readonly survey: Survey;
  readonly sandbox: SandboxParts;
  /** The program's version, without a leading v. */
  readonly version: string;
}

/** Runs the command in `argv` (the arguments alone, as after `pointsman`); resolves with the exit code. Never rejects. */
export async function runCli(argv: readonly string[], io: CliIo, parts: CliParts): Promise<number> {
  let code: number = EXIT.ok;
  const program = describe(io, parts, (outcome) => {
    code = outcome;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.stderr(`pointsman: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.failure;
  }
}

function describe(io: CliIo, { runApp, survey, sandbox, version }: CliParts, end: (code: number) => void): Command {
  const program = new Command('pointsman')
    .description("The database host that follows a PostgreSQL cluster's primary: a cluster-aware routing proxy.")
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(pointsman --help shows how)')
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    })
    .exitOverride();
  const configured = (name: string, description: string): Command =>
    program.command(name).description(description).option('-c, --config <file>', 'the configuration file (YAML)');
  configured('run', 'run the proxy until SIGTERM or SIGINT')
    .addOption(new Option('--log-level <level>', 'instead of log.level').choices(LOG_LEVELS))
    .addOption(new Option('--log-format <format>', 'instead of log.format').choices(LOG_FORMATS))
    .action(async (options: ConfigOptions) => end(await run(options, io, runApp)));
  configured('check', 'say whether a configuration is right, and what it amounts to')
    .option(
      '--live',
      'also ask each seed for the list of members; exit code 1 when none gives it or a member cannot be used',
    )
    .action(async (options: CheckOptions) => end(await (await import('./check.ts')).check(options, io, survey)));
  const asking = (name: string, description: string): Command =>
    configured(name, description).option(
      '--admin <address>',
      'HOST:PORT of the running Pointsman (default: admin.address)',
    );
  asking('explain', 'say of a running Pointsman where each pool leads, and why each member is or is not in it')
    .option('--pool <name>', 'of this pool only')
    .option('--json', 'as /status has it')
    .action(async (options: ExplainOptions) => end(await (await import('./explain.ts')).explain(options, io)));
  asking('healthcheck', 'exit code 0 when the Pointsman of this host is ready, else 1; for supervisors')
    .option('--live', 'only whether it answers')
    .action(async (options: HealthcheckOptions) =>
      end(await (await import('./healthcheck.ts')).healthcheck(options, io)),
    );
  describeOperations(asking, io, end);
  describeSandbox(program, io, sandbox, end);
  describeHelp(program, io, version);
  return program;
}

/** What tells about the program itself. */
function describeHelp(program: Command, io: CliIo, version: string): void {
  program
    .command('help')
    .description('show the help of a command')
    .argument('[command]')
    .action((name: string | undefined) => {
      const found = name === undefined ? program : program.commands.find((command) => command.name() === name);
      if (found === undefined) program.error(`error: unknown command '${name}'`);
      else found.outputHelp();
    });
  program.addOption(new Option('-v').hideHelp()).on('option:v', () => {
    io.stdout(`${version}\n`);
    throw new CommanderError(0, 'commander.version', version);
  });
  program
    .command('version')
    .description('show the version')
    .action(() => io.stdout(`${version}\n`));
}

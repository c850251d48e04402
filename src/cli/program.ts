// The command line: parses argv, runs the command, and returns an exit code: 0, 1 (runtime failure) or 2 (wrong usage
// or configuration).
import { CommanderError, Option } from 'commander';
import { CliCommand } from './cli-command.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../config/schema/log-options.ts';
import { describeCluster } from './cluster/cluster-commands.ts';
import type { ClusterParts } from './cluster/cluster-context.ts';
import { describeCompletion } from './completion/completion-commands.ts';
import { describeConfiguration } from './configuration-commands.ts';
import { CommandEnd } from './command-end.ts';
import { STANDARD_INPUT } from '../config/source/read-file.ts';
import { configFor, load, type ConfigOptions } from './configuration.ts';
import type { HealthcheckOptions } from './healthcheck.ts';
import { helpWithin } from './help-text.ts';
import { EXIT, type CliIo, type RunApp, type SandboxParts } from './io.ts';
import { json } from './json.ts';
import type { CheckSeeds } from './live-check.ts';
import { describeIncidents } from './incidents/incident-commands.ts';
import { describeOperations } from './running-commands.ts';
import { withOwnNames } from './patronictl-names.ts';
import { describeSandbox } from './sandbox.ts';
import { describeSessions } from './sessions/session-commands.ts';
import type { StatusOptions } from './status/read-status.ts';
import { describeStatus } from './status/status-commands.ts';
import { describeSwitchover } from './switchover/switchover-commands.ts';

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

/** Adds commands to the program. Their code is loaded when they are used. */
export type DescribeCommands = (program: CliCommand, io: CliIo) => void;

export interface CliParts {
  readonly runApp: RunApp;
  readonly checkSeeds: CheckSeeds;
  readonly sandbox: SandboxParts;
  readonly cluster: ClusterParts;
  /** The commands of rooms that this one does not know. */
  readonly others: readonly DescribeCommands[];
  /** The program's version, without a leading v. */
  readonly version: string;
}

/** Runs the command in `argv`, the arguments after `pointsman`. Resolves with the exit code; never rejects. */
export async function runCli(argv: readonly string[], io: CliIo, parts: CliParts): Promise<number> {
  const program = describe(io, parts);
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

function describe(io: CliIo, parts: CliParts): CliCommand {
  const { runApp, checkSeeds, sandbox, version } = parts;
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
    .configured('run', 'Run the proxy until SIGTERM or SIGINT')
    .addOption(new Option('--log-level <level>', 'override log.level').choices(LOG_LEVELS))
    .addOption(new Option('--log-format <format>', 'override log.format').choices(LOG_FORMATS))
    .examples('pointsman run -c /etc/pointsman/pointsman.yaml')
    .runs((options: ConfigOptions) => {
      const loaded = configFor(options, io);
      const isFile = loaded.file !== undefined && loaded.file !== STANDARD_INPUT;
      return runApp({ ...loaded, reload: () => (isFile ? load(options, io) : { kind: 'no_file' }) });
    });
  describeConfiguration(program, io, checkSeeds);
  describeStatus(program, io);
  describeExplain(program, io);
  program
    .remote('healthcheck', 'Exit 0 if the local Pointsman is ready, 1 otherwise')
    .option('--live', 'liveness only: exit 0 if it answers at all')
    .examples('pointsman healthcheck', 'pointsman healthcheck --live --admin 127.0.0.1:8432')
    .runs(async (options: HealthcheckOptions) => (await import('./healthcheck.ts')).healthcheck(options, io));
  describeIncidents(program, io);
  describeSessions(program, io);
  describeOperations(program, io);
  describeSwitchover(program, io);
  describeCluster(program, io, parts.cluster);
  for (const describeOther of parts.others) describeOther(program, io);
  describeSandbox(program, io, sandbox);
  describeCompletion(program, io);
  describeHelp(program, io, version);
  nameHelp(program, 'pointsman');
  return program;
}

function describeExplain(program: CliCommand, io: CliIo): void {
  program
    .remote('explain', 'Show why: where each pool routes and each member stands, or what keeps or moves one session')
    .argument('[session]', 'one session alone: its id, or ADDRESS:PORT of its client, as the log shows it')
    .option('--pool <name>', 'only this pool')
    .option('--json', 'print JSON')
    .examples('pointsman explain', 'pointsman explain --pool read', 'pointsman explain 10.0.0.5:51234')
    .runs(async (id: string | undefined, options: StatusOptions, command: CliCommand) => {
      if (id === undefined) return (await import('./explain.ts')).explain(options, io);
      if (options.pool !== undefined) return command.error('error: --pool is for all members, not for one session');
      return (await import('./sessions/explain-session.ts')).explainSession(id, options, io);
    });
}

/** After a wrong usage each command names its own help. */
function nameHelp(command: CliCommand, path: string): void {
  command.showHelpAfterError(`Run \`${path} --help\` for usage.`);
  for (const child of command.commands) nameHelp(child, `${path} ${child.name()}`);
}

/** The commands about the program itself. */
function describeHelp(program: CliCommand, io: CliIo, version: string): void {
  program
    .command('help')
    .description('Print the help of a command')
    .argument('[command]')
    .examples('pointsman help drain')
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
    .description('Print the version')
    .option('--json', 'print JSON')
    .examples('pointsman version')
    .action((options: { readonly json?: boolean }) =>
      io.stdout(options.json === true ? json({ version }) : `${version}\n`),
    );
}

// All commands but `run`. A proxy starts without them.
import { CommanderError, Option } from 'commander';
import type { CliCommand } from './cli-command.ts';
import { describeCluster } from './cluster/cluster-commands.ts';
import { describeCompletion } from './completion/completion-commands.ts';
import { describeConfiguration } from './configuration-commands.ts';
import type { HealthcheckOptions } from './healthcheck.ts';
import type { CliIo } from './io.ts';
import { json } from './json.ts';
import { describeIncidents } from './incidents/incident-commands.ts';
import type { CliParts } from './parts.ts';
import { describeOperations } from './running-commands.ts';
import { describeSandbox } from './sandbox.ts';
import { describeSessions } from './sessions/session-commands.ts';
import type { StatusOptions } from './status/read-status.ts';
import { describeStatus } from './status/status-commands.ts';
import { describeSwitchover } from './switchover/switchover-commands.ts';

/** Adds every command but `run`. */
export async function describeOthers(program: CliCommand, io: CliIo, parts: CliParts): Promise<void> {
  const { checkSeeds, sandbox, version } = parts;
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
  for (const describeOther of await parts.others()) describeOther(program, io);
  describeSandbox(program, io, sandbox);
  describeCompletion(program, io);
  describeHelp(program, io, version);
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

// `pointsman branches …` on the command line: the arguments and options of each command. The commands themselves are
// loaded when they are used.
import { InvalidArgumentError, Option } from 'commander';
import { duration, LOCATION, type CliCommand } from '../../cli/cli-command.ts';
import type { CliIo } from '../../cli/io.ts';
import type { DescribeCommands } from '../../cli/parts.ts';
import type { BranchOptions, BranchParts } from './branch-context.ts';
import { ENDPOINT_TYPES, type EndpointType } from '../../model/branch.ts';
import type { CreateOptions } from './create.ts';
import type { DeleteBranchOptions } from './delete.ts';

const HELP = `
A client connects to a branch as DATABASE@BRANCH, on the listeners of the pools. The commands find the source of the
branches by -c FILE (or POINTSMAN_CONFIG), by variables POINTSMAN_BRANCHES_…, or by the Pointsman that runs at --admin.
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 not finished yet: run the same command again, 4 refused
by a rule.`;

const LIST_HELP = `
BEHIND PARENT is how much the parent has written since the branch left it, WRITTEN is how much the branch has written
itself. A console does not report them. The sessions are those of the Pointsman at --admin (default: admin.address).`;

const CREATE_HELP = `
A branch that exists already with the same arguments is a success, so a job can run this at each push. The parent is by
default the default branch of the console, or the only root of the storage node. A branch on a storage node starts at
the parent's position of this moment, or at --at. If the command is interrupted, run it again: it continues with the
same branch. The key of --api-key-file is a person's or a job's: the running Pointsman needs only a key that reads.`;

const DELETE_HELP = `
It refuses a root, a branch that has branches, and a branch with sessions. A console has no way to delete a branch: use
its own tools.`;

const EXPLAIN_HELP = `
Shows the backend of a target, the setting that gives it, and how old the list is. With a running Pointsman that is its
own list, else the source is read now. Exit code 0: the target can be used.`;

export function branchCommands(parts: BranchParts): DescribeCommands {
  return (program, io) => {
    const branches = program
      .command('branches')
      .description('List, create and delete branches of the database, and explain where a target goes')
      .addHelpText('after', HELP)
      .examples('pointsman branches list', 'pointsman branches create pr-1');
    describeReading(branches, io, parts);
    describeChanging(branches, io, parts);
  };
}

function sourced(parent: CliCommand, name: string, description: string): CliCommand {
  return parent
    .command(name)
    .description(description)
    .option('-c, --config <file>', 'the configuration file (YAML) with the section branches')
    .option(...LOCATION.admin)
    .option('--api-key-file <file>', 'the API key of the console, instead of that of the configuration')
    .option('--json', 'print JSON');
}

function describeReading(branches: CliCommand, io: CliIo, parts: BranchParts): void {
  sourced(branches, 'list', 'Show the branches: parent, distance from it, backend, sessions')
    .addHelpText('after', LIST_HELP)
    .examples('pointsman branches list', 'pointsman branches list --json')
    .runs(async (options: BranchOptions) => (await import('./branch-table.ts')).list(options, io, parts));
  sourced(branches, 'explain', 'Show where a target goes, and why')
    .argument('<branch>', 'DATABASE@BRANCH, or the name or id of a branch')
    .addHelpText('after', EXPLAIN_HELP)
    .examples('pointsman branches explain app@pr-1')
    .runs(async (target: string, options: BranchOptions) =>
      (await import('./explain-target.ts')).explain(target, options, io, parts),
    );
}

function describeChanging(branches: CliCommand, io: CliIo, parts: BranchParts): void {
  sourced(branches, 'create', 'Create a branch, or find it if it exists')
    .argument('<name>', 'its name: a client connects to DATABASE@NAME')
    .option('--parent <branch>', 'name or id of its parent')
    .option('--at <lsn>', 'the position of the parent at which it starts, such as 0/3000060 (storage node)')
    .option('--schema-only', 'the tables without their rows (console)')
    .option('--endpoint <types>', 'servers for it: read_write, read_only or both with a comma (console)', endpoints)
    .addOption(new Option('--wait <duration>', 'try so long at most').argParser(duration).default(60_000, '60s'))
    .addHelpText('after', CREATE_HELP)
    .examples('pointsman branches create pr-1', 'pointsman branches create pr-1-b --parent pr-1')
    .runs(async (name: string, options: CreateOptions) =>
      (await import('./create.ts')).create(name, options, io, parts),
    );
  sourced(branches, 'delete', 'Delete a branch and its data (storage node)')
    .argument('<branch>', 'name or id of the branch')
    .option('--if-exists', 'success if there is no such branch')
    .option('--force', 'also a root, or a branch with sessions')
    .option('-y, --yes', 'ask no question')
    .addHelpText('after', DELETE_HELP)
    .examples('pointsman branches delete pr-1-b', 'pointsman branches delete pr-9 --if-exists --yes')
    .runs(async (target: string, options: DeleteBranchOptions) =>
      (await import('./delete.ts')).remove(target, options, io, parts),
    );
}

function endpoints(text: string): readonly EndpointType[] {
  return text.split(',').map((given) => {
    const known = ENDPOINT_TYPES.find((type) => type === given.trim());
    if (known === undefined) throw new InvalidArgumentError(`Write ${ENDPOINT_TYPES.join(', ')}, or both.`);
    return known;
  });
}

// `pointsman cluster …` on the command line: the arguments and options of each command. The commands themselves are
// loaded when they are used.
import { Argument, Option } from 'commander';
import { collected, type CliCommand } from '../cli-command.ts';
import type { CliIo } from '../io.ts';
import type { ClusterCommand, ClusterOptions, ClusterParts } from './cluster-context.ts';

const HELP = `
The commands find the cluster by -c FILE (or POINTSMAN_CONFIG), by --seed URL alone, or by --admin through a running
Pointsman. Without any of them they use the Pointsman at 127.0.0.1:8432. A change shows its plan and asks first. --yes
answers the question, --dry-run prints the requests and sends none. patronictl's --candidate, --scheduled and --force
are --to, --at and --yes here; a command that has the one understands the other.
Exit codes: 0 success, 1 refused, declined or failed, 2 wrong usage or configuration.`;

const TIME = 'ISO 8601 with an offset, or now+10m';

type ClusterTree = Omit<ClusterCommand, 'options'>;

export function describeCluster(program: CliCommand, io: CliIo, parts: ClusterParts): void {
  const cluster = program
    .command('cluster')
    .description('Show the cluster and operate it through its management API')
    .addHelpText('after', HELP)
    .examples('pointsman cluster list --seed http://10.0.0.11:8008');
  const tree: ClusterTree = { ...parts, io };
  describeReading(cluster, tree);
  describeConfig(cluster, tree);
  describeLeadership(cluster, tree);
  describeMembers(cluster, tree);
  describeCancel(cluster, tree);
}

/** The code of a command is loaded when it is used. */
function lazily<Options extends ClusterOptions>(
  tree: ClusterTree,
  load: () => Promise<(command: ClusterCommand<Options>) => Promise<number>>,
): (options: Options) => Promise<number> {
  return async (options) => (await load())({ ...tree, options });
}

/** The same with an argument. */
function lazilyOn<Given, Options extends ClusterOptions>(
  tree: ClusterTree,
  load: () => Promise<(command: ClusterCommand<Options>, given: Given) => Promise<number>>,
): (given: Given, options: Options) => Promise<number> {
  return async (given, options) => (await load())({ ...tree, options }, given);
}

/** A command that only reads. */
function reading(parent: CliCommand, name: string, description: string): CliCommand {
  return parent
    .command(name)
    .description(description)
    .option('-c, --config <file>', 'the configuration file (YAML) that names the cluster')
    .addOption(new Option('--seed <url>', 'management API of any member; may be repeated').argParser(collected))
    .option('--admin <address>', 'HOST:PORT or URL of a running Pointsman to go through')
    .option('--json', 'print JSON');
}

function changing(parent: CliCommand, name: string, description: string): CliCommand {
  return reading(parent, name, description)
    .option('-y, --yes', 'ask no question')
    .option('--dry-run', 'print the requests, and send none');
}

function changingConfig(parent: CliCommand, name: string, description: string): CliCommand {
  return changing(parent, name, description).option('--any-value', 'also values that are known to be wrong');
}

function describeReading(cluster: CliCommand, tree: ClusterTree): void {
  reading(cluster, 'list', 'Show the members: role, state, timeline, lag, pending restarts, tags')
    .option('--watch [seconds]', 'again and again, every 2 seconds by default, until Ctrl-C')
    .examples('pointsman cluster list', 'pointsman cluster list --watch 5')
    .runs(lazily(tree, async () => (await import('./cluster-list.ts')).list));
  reading(cluster, 'history', 'Show every change of timeline, with its reason and the new leader')
    .examples('pointsman cluster history')
    .runs(lazily(tree, async () => (await import('./history.ts')).history));
}

function describeConfig(cluster: CliCommand, tree: ClusterTree): void {
  const config = cluster.command('config').description('Show and change the dynamic configuration of the cluster');
  config.examples('pointsman cluster config show');
  reading(config, 'show', 'Print the dynamic configuration')
    .examples('pointsman cluster config show')
    .runs(lazily(tree, async () => (await import('./config-change.ts')).configShow));
  changingConfig(config, 'edit', 'Edit it in $VISUAL or $EDITOR, and apply what changed')
    .examples('pointsman cluster config edit')
    .runs(lazily(tree, async () => (await import('./config-edit.ts')).configEdit));
  changingConfig(config, 'set', 'Set keys, and leave the others; KEY= removes a key')
    .argument('<assignments...>', 'KEY=VALUE, with a dotted key')
    .examples(
      'pointsman cluster config set maximum_lag_on_failover=4194304',
      'pointsman cluster config set postgresql.parameters.work_mem=8MB --dry-run',
      'pointsman cluster config set postgresql.parameters.work_mem= --yes',
    )
    .runs(lazilyOn(tree, async () => (await import('./config-change.ts')).configSet));
  changingConfig(config, 'replace', 'Replace it as a whole: keys that the file does not have are removed')
    .argument('<file>', 'YAML or JSON; - is standard input')
    .examples('pointsman cluster config replace dynamic.yaml')
    .runs(lazilyOn(tree, async () => (await import('./config-change.ts')).configReplace));
}

function describeLeadership(cluster: CliCommand, tree: ClusterTree): void {
  changing(cluster, 'switchover', 'Ask Patroni for a planned change of the leader, now or at a time')
    .option('--to <member>', 'the next leader; default: Patroni chooses')
    .option('--at <time>', TIME)
    .addHelpText(
      'after',
      '\nThis asks Patroni directly, so clients are cut. `pointsman switchover` holds them. With --at each\n' +
        'Pointsman holds new clients from shortly before the time on (hold.before_switchover).',
    )
    .examples('pointsman cluster switchover --to pg-3', 'pointsman cluster switchover --at now+10m --yes')
    .runs(lazily(tree, async () => (await import('./cluster-switchover.ts')).switchover));
  changing(cluster, 'failover', 'Make a member the leader without the old one. Writes can be lost')
    .requiredOption('--to <member>', 'the next leader')
    .examples('pointsman cluster failover --to pg-1')
    .runs(lazily(tree, async () => (await import('./failover.ts')).failover));
  for (const kind of ['pause', 'resume'] as const) {
    const what = kind === 'pause' ? 'Stop automatic failover, until `resume`' : 'Undo a pause';
    changing(cluster, kind, what)
      .examples(`pointsman cluster ${kind}`)
      .runs(lazily(tree, async () => (await import('./pause.ts'))[kind]));
  }
}

function describeMembers(cluster: CliCommand, tree: ClusterTree): void {
  changing(cluster, 'restart', 'Restart PostgreSQL of a member, or of several one after the other')
    .argument('[member]', 'name of the member')
    .addOption(new Option('--role <role>', 'the members of this role').choices(['primary', 'replica', 'any']))
    .option('--pending', 'only members whose parameters need a restart')
    .option('--pg-version <version>', 'only members whose PostgreSQL is older, such as 18.4')
    .option('--timeout <duration>', 'how long PostgreSQL may take to start: 60, 90s or 2min')
    .option('--at <time>', TIME)
    .option('--primary-first', 'max_connections or its kind is lowered; Patroni before 3.3 does not report it')
    .option('--standbys-first', 'it is raised, or another parameter is changed')
    .option('--any-order', 'also where the parameters need another order')
    .examples(
      'pointsman cluster restart pg-2',
      'pointsman cluster restart --role any --pending --yes',
      'pointsman cluster restart pg-2 --at now+1h',
    )
    .runs(lazilyOn(tree, async () => (await import('./restart.ts')).restart));
  changing(cluster, 'reload', 'Let members read their local configuration files again')
    .argument('[member]', 'name of the member; default: all')
    .examples('pointsman cluster reload pg-2', 'pointsman cluster reload --yes')
    .runs(lazilyOn(tree, async () => (await import('./reload.ts')).reload));
  changing(cluster, 'reinit', 'Delete the data of a replica and copy it anew')
    .alias('reinitialize')
    .argument('<member>', 'name of the member')
    .option('--force', 'also while the member recovers')
    .option('--from-leader', 'copy from the leader')
    .examples('pointsman cluster reinit pg-3', 'pointsman cluster reinit pg-3 --from-leader --yes')
    .runs(lazilyOn(tree, async () => (await import('./reinit.ts')).reinit));
}

function describeCancel(cluster: CliCommand, tree: ClusterTree): void {
  const cancel = cluster.command('cancel').description('Cancel what is scheduled');
  cancel.examples('pointsman cluster cancel switchover');
  changing(cancel, 'switchover', 'Cancel the scheduled switchover')
    .examples('pointsman cluster cancel switchover')
    .runs(lazily(tree, async () => (await import('./cancel.ts')).cancelSwitchover));
  changing(cancel, 'restart', 'Cancel scheduled restarts')
    .addArgument(new Argument('[member]', 'name of the member; default: all'))
    .examples('pointsman cluster cancel restart pg-2')
    .runs(lazilyOn(tree, async () => (await import('./cancel.ts')).cancelRestart));
}

// The start of every command of `pointsman cluster`: the options, the cluster that they name, and its report.
import type { ClusterControl, ControlReading } from '../../cluster/control.ts';
import type { ClusterReport } from '../../documents/cluster-documents.ts';
import type { ClusterConfig } from '../../model/cluster-config.ts';
import { configFor, fileFor } from '../configuration.ts';
import { fail, wrong } from '../command-end.ts';
import type { CliIo } from '../io.ts';
import type { RunningOptions } from '../running.ts';
import type { SessionCounts } from './member-sessions.ts';

/** `admin`: the running Pointsman to go through. */
export interface ClusterOptions extends RunningOptions {
  /** URLs of management APIs; they replace those of the configuration. */
  readonly seed?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
}

/** Options of the commands that change something. */
export interface ChangeOptions extends ClusterOptions {
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface ClusterParts {
  /** Over the members' own management APIs. It reads files that the configuration names. */
  readonly openCluster: (cluster: ClusterConfig) => Promise<ClusterControl>;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A command as it was given: no cluster is opened yet. */
export interface ClusterCommand<Options extends ClusterOptions = ClusterOptions> extends ClusterParts {
  readonly options: Options;
  readonly io: CliIo;
}

export interface ClusterContext<Options extends ClusterOptions = ClusterOptions> extends ClusterCommand<Options> {
  readonly control: ClusterControl;
  /** Sessions of each member, as the running Pointsman reports them. Undefined: none answers. */
  readonly sessions: () => Promise<SessionCounts | undefined>;
}

export async function openContext<Options extends ClusterOptions>(
  command: ClusterCommand<Options>,
): Promise<ClusterContext<Options>> {
  const { options, io } = command;
  if (options.admin !== undefined && options.seed !== undefined)
    return wrong(io, '--admin and --seed exclude each other: the one goes through a Pointsman, the other does not');
  const isAdmin = options.admin !== undefined || !hasCluster(options, io);
  const control = isAdmin ? await overAdmin(options, io) : await overMembers(command);
  const { sessionsOf } = await import('./member-sessions.ts');
  return { ...command, control, sessions: () => sessionsOf(options, io) };
}

/** Without a file, seeds or settings of the cluster, the Pointsman of this machine is asked. */
function hasCluster({ config, seed }: ClusterOptions, io: CliIo): boolean {
  const isInEnvironment = Object.entries(io.env).some(
    ([name, value]) => /^POINTSMAN_CLUSTER_(?:SEEDS|MEMBERS|KUBERNETES)/.test(name) && Boolean(value),
  );
  return seed !== undefined || fileFor({ config }, io) !== undefined || isInEnvironment;
}

async function overMembers({ options: { config, seed }, io, openCluster }: ClusterCommand): Promise<ClusterControl> {
  const loaded = configFor({ config }, seed === undefined ? io : withSeeds(seed, io));
  return await openCluster(loaded.config.cluster);
}

/** Seeds of the command line name another cluster than the file in POINTSMAN_CONFIG: that is not read. */
function withSeeds(seeds: readonly string[], io: CliIo): CliIo {
  const { POINTSMAN_CONFIG: _, ...env } = io.env;
  return { ...io, env: { ...env, POINTSMAN_CLUSTER_SEEDS: seeds.join(',') } };
}

async function overAdmin(options: ClusterOptions, io: CliIo): Promise<ClusterControl> {
  const [{ findRunning }, { controlByAdmin }] = await Promise.all([import('../running.ts'), import('./by-admin.ts')]);
  // Nothing names a cluster: a Pointsman that does not answer may not be meant at all.
  const hint = options.admin === undefined ? ' Or name the cluster: -c FILE, or --seed http://HOST:8008.' : '';
  return controlByAdmin(findRunning(options, io), hint);
}

/** Ends the command if the cluster cannot be read. */
export function valueOf<T>(reading: ControlReading<T>, io: CliIo): T {
  return reading.kind === 'read' ? reading.value : fail(io, reading.why);
}

/** The start of a command that needs the report. */
export async function openReport<Options extends ClusterOptions>(
  command: ClusterCommand<Options>,
): Promise<{ readonly context: ClusterContext<Options>; readonly report: ClusterReport }> {
  const context = await openContext(command);
  return { context, report: valueOf(await context.control.report(), command.io) };
}

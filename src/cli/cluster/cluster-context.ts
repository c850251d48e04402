// The start of every command of `pointsman cluster`: the options, the cluster that they name, and its report.
import type { ClusterControl, ControlReading } from '../../cluster/control.ts';
import type { ClusterReport } from '../../documents/cluster-documents.ts';
import type { ClusterConfig } from '../../model/cluster-config.ts';
import { configFor, fileFor } from '../configuration.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import type { SessionCounts } from './member-sessions.ts';

export interface ClusterOptions {
  readonly config?: string | undefined;
  /** URLs of management APIs; they replace those of the configuration. */
  readonly seed?: readonly string[] | undefined;
  /** The running Pointsman to go through. */
  readonly admin?: string | undefined;
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

export interface ClusterContext<Options extends ClusterOptions = ClusterOptions> {
  readonly options: Options;
  readonly io: CliIo;
  readonly control: ClusterControl;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  /** Sessions of each member, as the running Pointsman reports them. Undefined: none answers. */
  readonly sessions: () => Promise<SessionCounts | undefined>;
}

/** A number is the exit code; the reason is then on stderr. */
export async function openContext<Options extends ClusterOptions>(
  options: Options,
  io: CliIo,
  parts: ClusterParts,
): Promise<ClusterContext<Options> | number> {
  const { now, sleep } = parts;
  if (options.admin !== undefined && options.seed !== undefined) {
    return wrong(io, '--admin and --seed exclude each other: the one goes through a Pointsman, the other does not');
  }
  const isAdmin = options.admin !== undefined || !hasCluster(options, io);
  const control = isAdmin ? await overAdmin(options, io) : await overMembers(options, io, parts);
  if (typeof control === 'number') return control;
  const { sessionsOf } = await import('./member-sessions.ts');
  return { options, io, control, now, sleep, sessions: () => sessionsOf(options, io) };
}

/** Without a file, seeds or settings of the cluster, the Pointsman of this machine is asked. */
function hasCluster({ config, seed }: ClusterOptions, io: CliIo): boolean {
  const isInEnvironment = Object.entries(io.env).some(
    ([name, value]) => /^POINTSMAN_CLUSTER_(?:SEEDS|MEMBERS|KUBERNETES)/.test(name) && Boolean(value),
  );
  return seed !== undefined || fileFor({ config }, io) !== undefined || isInEnvironment;
}

async function overMembers(
  { config, seed }: ClusterOptions,
  io: CliIo,
  { openCluster }: ClusterParts,
): Promise<ClusterControl | number> {
  const loaded = configFor({ config }, seed === undefined ? io : withSeeds(seed, io));
  return loaded === undefined ? EXIT.usage : await openCluster(loaded.config.cluster);
}

/** Seeds of the command line name another cluster than the file in POINTSMAN_CONFIG: that is not read. */
function withSeeds(seeds: readonly string[], io: CliIo): CliIo {
  const { POINTSMAN_CONFIG: _, ...env } = io.env;
  return { ...io, env: { ...env, POINTSMAN_CLUSTER_SEEDS: seeds.join(',') } };
}

async function overAdmin(options: ClusterOptions, io: CliIo): Promise<ClusterControl | number> {
  const [{ findRunning }, { controlByAdmin }] = await Promise.all([import('../running.ts'), import('./by-admin.ts')]);
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const control = controlByAdmin(running);
  return options.admin === undefined ? withHint(control) : control;
}

const HINT = 'Or name the cluster: -c FILE, or --seed http://HOST:8008.';

/** Nothing names a cluster: a Pointsman that does not answer may not be meant at all. */
function withHint(control: ClusterControl): ClusterControl {
  return {
    ...control,
    report: async () => hinted(await control.report()),
    history: async () => hinted(await control.history()),
    config: async () => hinted(await control.config()),
  };
}

function hinted<T>(reading: ControlReading<T>): ControlReading<T> {
  return reading.kind === 'read' ? reading : { ...reading, why: `${reading.why} ${HINT}` };
}

/** Undefined if the cluster cannot be read; the reason is then on stderr. */
export async function readReport({ control, io }: ClusterContext): Promise<ClusterReport | undefined> {
  const report = await control.report();
  if (report.kind === 'read') return report.value;
  fail(io, report.why);
  return undefined;
}

/** The exit code of a failure or a refusal. */
export function fail(io: CliIo, why: string): number {
  io.stderr(`pointsman: ${why}\n`);
  return EXIT.failure;
}

/** The exit code of a wrong command line. */
export function wrong(io: CliIo, why: string): number {
  io.stderr(`pointsman: ${why}\n`);
  return EXIT.usage;
}

// Loads the configuration of a command: -c FILE, else POINTSMAN_CONFIG, else the environment alone.
import { countText } from '../core/describe.ts';
import type { Config } from '../config/config.ts';
import { loadConfig, NO_SEED, type LoadResult } from '../config/load.ts';
import { formatProblems, type Problem } from '../config/fault.ts';
import type { LogFormat, LogLevel } from '../config/schema/log-options.ts';
import { CommandEnd } from './command-end.ts';
import { EXIT, type CliIo } from './io.ts';

export interface ConfigOptions {
  readonly config?: string | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly logFormat?: LogFormat | undefined;
}

export interface LoadedConfig {
  /** Undefined: the environment alone. */
  readonly file: string | undefined;
  readonly config: Config;
  readonly warnings: readonly Problem[];
}

/** Options of the command line override the environment, which overrides the file. */
export function load(options: ConfigOptions, io: CliIo): LoadResult {
  const { readFile } = io;
  const given = [
    ['POINTSMAN_LOG_LEVEL', '--log-level', options.logLevel],
    ['POINTSMAN_LOG_FORMAT', '--log-format', options.logFormat],
  ].filter(([, , value]) => value !== undefined);
  return loadConfig({
    file: fileFor(options, io),
    env: { ...io.env, ...Object.fromEntries(given.map(([variable, , value]) => [variable, value])) },
    options: Object.fromEntries(given.map(([variable, option]) => [variable, option])),
    ...(readFile === undefined ? {} : { readFile }),
  });
}

/** For a command that contacts no member: the environment alone needs no cluster. */
export function withoutCluster(options: Pick<ConfigOptions, 'config'>, io: CliIo): CliIo {
  if (fileFor(options, io) !== undefined) return io;
  return { ...io, env: { POINTSMAN_CLUSTER_SEEDS: NO_SEED, ...io.env } };
}

/** Ends the command if it is invalid. */
export function configFor(options: ConfigOptions, io: CliIo): LoadedConfig {
  const file = fileFor(options, io);
  const loaded = load(options, io);
  if (loaded.kind === 'ok') return { file, config: loaded.config, warnings: loaded.warnings };
  const { problems } = loaded;
  const hint = file === undefined ? 'No configuration file: use -c FILE, or set POINTSMAN_ variables.\n' : '';
  io.stderr(`${formatProblems(problems)}\n${countText(problems.length, 'problem')}.\n${hint}`);
  throw new CommandEnd(EXIT.usage);
}

export function fileFor({ config }: Pick<ConfigOptions, 'config'>, { env }: CliIo): string | undefined {
  return config ?? (env['POINTSMAN_CONFIG'] || undefined);
}

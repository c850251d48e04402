// Finding and loading the configuration for a command: -c FILE, else POINTSMAN_CONFIG, else the environment alone.
import type { Config, LogFormat, LogLevel } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import type { Loaded } from '../config/load.ts';
import { formatProblems } from '../config/problem.ts';
import type { Problem } from '../config/problem.ts';
import type { CliIo } from './io.ts';

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

/** What the command line says goes before the file. */
export function load(options: ConfigOptions, io: CliIo): Loaded {
  const { env, readFile } = io;
  const loaded = loadConfig({ file: fileFor(options, io), env, ...(readFile === undefined ? {} : { readFile }) });
  if (loaded.kind === 'invalid') return loaded;
  const { level, format } = loaded.config.log;
  const log = Object.freeze({ level: options.logLevel ?? level, format: options.logFormat ?? format });
  return { ...loaded, config: Object.freeze({ ...loaded.config, log }) };
}

/** Undefined when it is not usable: the problems are then on stderr. */
export function configFor(options: ConfigOptions, io: CliIo): LoadedConfig | undefined {
  const file = fileFor(options, io);
  const loaded = load(options, io);
  if (loaded.kind === 'ok') return { file, config: loaded.config, warnings: loaded.warnings };
  const { problems } = loaded;
  const hint = file === undefined ? 'No file was given: use -c FILE, or POINTSMAN_ variables alone.\n' : '';
  io.stderr(`${formatProblems(problems)}\n${count(problems)}; nothing was started.\n${hint}`);
  return undefined;
}

export function count({ length }: readonly Problem[]): string {
  return length === 1 ? '1 problem' : `${length} problems`;
}

export function fileFor({ config }: Pick<ConfigOptions, 'config'>, { env }: CliIo): string | undefined {
  return config ?? (env['POINTSMAN_CONFIG'] || undefined);
}

// Finding and loading the configuration for a command: -c FILE, else POINTSMAN_CONFIG, else the environment alone.
import type { Config, LogFormat, LogLevel } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblems } from '../config/problem.ts';
import type { Problem } from '../config/problem.ts';
import type { CliIo } from './io.ts';

export interface ConfigOptions {
  readonly config?: string | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly logFormat?: LogFormat | undefined;
}

export interface LoadedConfig {
  /** The file, or `environment` where there is none. */
  readonly source: string;
  readonly config: Config;
  readonly warnings: readonly Problem[];
}

/** Undefined when it is not usable: the problems are then on stderr. */
export function configFor(options: ConfigOptions, io: CliIo): LoadedConfig | undefined {
  const file = options.config ?? (io.env['POINTSMAN_CONFIG'] || undefined);
  const { env, readFile } = io;
  const loaded = loadConfig({ file, env, ...(readFile === undefined ? {} : { readFile }) });
  if (loaded.kind === 'invalid') {
    const { problems } = loaded;
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const hint = file === undefined ? 'No file was given: use -c FILE, or POINTSMAN_ variables alone.\n' : '';
    io.stderr(`${formatProblems(problems)}\n${count}; nothing was started.\n${hint}`);
    return undefined;
  }
  const { level, format } = loaded.config.log;
  const log = Object.freeze({ level: options.logLevel ?? level, format: options.logFormat ?? format });
  const config = Object.freeze({ ...loaded.config, log });
  return { source: file ?? 'environment', config, warnings: loaded.warnings };
}

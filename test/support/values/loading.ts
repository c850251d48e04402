// The result of loading a text and an environment, for the tests of the configuration.
import type { Config } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/source/environment.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { LoadResult } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/fault.ts';

export const SEEDS = { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' };

export function load(text: string, env: Environment = SEEDS): LoadResult {
  return loadConfig({ file: 'p.yaml', env, readFile: () => text });
}

export function configOf(loaded: LoadResult): Config {
  if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

/** Without the places at which the values were written. */
export function valuesOf(loaded: LoadResult): Omit<Config, 'origins'> {
  const { origins: _, ...values } = configOf(loaded);
  return values;
}

export function problemsOf(loaded: LoadResult): readonly string[] {
  return loaded.kind === 'ok' ? [] : formatProblems(loaded.problems).split('\n');
}

export function warningsOf(loaded: LoadResult): string {
  return loaded.kind === 'ok' ? formatProblems(loaded.warnings) : formatProblems(loaded.problems);
}

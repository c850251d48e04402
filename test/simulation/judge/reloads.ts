// A reload applies completely or not at all (G15): the configuration in force is that of the file, or the one before.
import type { Config } from '../../../src/config/config.ts';
import type { Reload } from '../pointsman/simulated-pointsman.ts';
import type { Law } from './law.ts';

export const RELOADS: Law = {
  guarantee: 'G15',
  broken: ({ pointsmen }) =>
    pointsmen.flatMap(({ reloads, isKilled, parts }, run) => [
      ...reloads.filter((one) => !isWhole(one)).map(({ result }) => `pointsman ${run}: in part, after ${result.kind}`),
      ...(isKilled
        ? []
        : unlike(parts).map((pool) => `pointsman ${run} decides about ${pool}, which is not configured`)),
    ]),
};

function isWhole({ result, before, after, loaded }: Reload): boolean {
  if (result.kind === 'failed') return isSame(before, after);
  if (loaded.kind === 'invalid') return false;
  // Some settings wait for a restart.
  return result.needsRestart.length > 0 || isSame(loaded.config, after);
}

/** As text: a key that is undefined is not there. */
function isSame({ file }: Pick<Config, 'file'>, other: Pick<Config, 'file'>): boolean {
  return JSON.stringify(file) === JSON.stringify(other.file);
}

/** The table and the configuration have the same pools. */
function unlike({ monitor, running }: Pick<Parts, 'monitor' | 'running'>): readonly string[] {
  const configured = new Set(running.config.pools.map(({ name }) => name));
  return [...configured.symmetricDifference(new Set(monitor.table().pools.keys()))];
}

type Parts = Parameters<Law['broken']>[0]['pointsmen'][number]['parts'];

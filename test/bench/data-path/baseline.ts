// What the short form compares with: ratios of processor time to HAProxy, committed in baseline.json. Machines are noisy, and only a gross
// loss is told.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Line } from './sample.ts';

/** Ratios by part and scene. */
const baseline = z.record(z.string(), z.record(z.string(), z.number()));

export type Baseline = z.infer<typeof baseline>;

/** So many times the baseline's ratio is a gross loss. */
export const GROSS = 1.6;

export function readBaseline(): Baseline {
  return baseline.parse(JSON.parse(readFileSync(join(import.meta.dirname, '../baseline.json'), 'utf8')));
}

/** One line for each scene of the baseline that was lost grossly, or that nobody measured. */
export function lossesOf(lines: readonly Line[], expected: Baseline): readonly string[] {
  return Object.entries(expected).flatMap(([part, scenes]) =>
    Object.entries(scenes).flatMap(([scene, ratio]) => {
      const line = lines.find((one) => one.part === part && one.scene === scene && one.metric.startsWith('CPU'));
      const found = line?.peers.find(({ peer }) => peer === 'pointsman')?.ratio;
      if (found === undefined) return [`${part}, ${scene}: not measured`];
      if (found <= ratio * GROSS) return [];
      return [`${part}, ${scene}: ${found.toFixed(2)} × HAProxy's processor time, ${ratio} before`];
    }),
  );
}

// The baseline of the short form: ratios of processor time to HAProxy, committed in baseline.json. Machines are noisy,
// so the short form reports only a large loss.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Line } from './sample.ts';

/** Ratios by part and scene. */
const baseline = z.record(z.string(), z.record(z.string(), z.number()));

export type Baseline = z.infer<typeof baseline>;

/** A ratio of more than this many times the baseline's is a large loss. */
export const GROSS = 1.6;

export function readBaseline(): Baseline {
  return baseline.parse(JSON.parse(readFileSync(join(import.meta.dirname, '../baseline.json'), 'utf8')));
}

/** One line for each scene of the baseline that has a large loss or no measurement. */
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

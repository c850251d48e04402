// The causal reads of each pool in words. Pure.
import type { PoolStatusDocument } from '../../documents/status-document.ts';
import { countText, numberText } from './words.ts';

export interface CausalReadsText {
  readonly pool: string;
  /** `writes through this Pointsman`; empty for everybody's. */
  readonly scope: string;
  readonly waiting: number;
  readonly late: number;
  /** `late on pg-3`; empty if none was. */
  readonly lateOn: string;
  /** One sentence about the last minute. */
  readonly minute: string;
}

export function causalReadsOf(pools: readonly PoolStatusDocument[]): readonly CausalReadsText[] {
  return pools.flatMap(({ name, causal_reads: reads }) => {
    if (reads === undefined) return [];
    const { late, late_on: on } = reads.last_minute;
    const lateOn = late === 0 ? '' : `late on ${Object.keys(on).join(', ')}`;
    const scope = reads.scope === 'proxy' ? 'writes through this Pointsman' : '';
    return [{ pool: name, scope, waiting: reads.waiting, late, lateOn, minute: minuteText(reads.last_minute) }];
  });
}

type Minute = NonNullable<PoolStatusDocument['causal_reads']>['last_minute'];

function minuteText({ results, mean_wait_seconds: mean, longest_wait_seconds: longest }: Minute): string {
  const total = Object.values(results).reduce((sum, count) => sum + count, 0);
  if (total === 0) return 'No read in the last minute.';
  const wait =
    mean === null ? 'none had to wait' : `they waited ${waitText(mean)} on average, ${waitText(longest)} at most`;
  const fates = [
    ...(results.moved === 0 ? [] : [`${numberText(results.moved)} moved`]),
    ...(results.error === 0 ? [] : [`${numberText(results.error)} refused`]),
    ...(results.stale === 0 ? [] : [`${numberText(results.stale)} ran all the same`]),
  ];
  const late = fates.length === 0 ? '' : ` Late: ${fates.join(', ')}.`;
  return `${countText(total, 'read')} in the last minute: ${wait}.${late}`;
}

/** `0.34 ms`, `4.2 ms`, `310 ms`, `1.2 s` */
export function waitText(seconds: number): string {
  const ms = seconds * 1000;
  if (ms >= 1000) return `${seconds.toFixed(1)} s`;
  return `${ms < 1 ? Number(ms.toFixed(2)) : ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}

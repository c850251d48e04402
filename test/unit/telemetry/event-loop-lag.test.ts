import { createHistogram } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { registerEventLoopLag } from '../../../src/telemetry/event-loop-lag.ts';
import { Registry } from '../../../src/telemetry/prometheus.ts';

test('the value is the delay, not the number of reads, and restarts at each scrape', async () => {
  const registry = new Registry();
  const intervals = createHistogram();
  registerEventLoopLag(registry, intervals);
  const told = async (figure: string): Promise<number> => {
    const text = await registry.metrics();
    return Number(new RegExp(String.raw`^nodejs_eventloop_lag_${figure}_seconds (\S+)$`, 'm').exec(text)?.[1]);
  };
  expect(await told('max')).toBe(0);
  for (const ms of [50, 51, 250]) intervals.record(ms * 1e6);
  expect(await told('max')).toBeCloseTo(0.2, 2);
  expect(await told('max')).toBe(0);
  intervals.record(49e6);
  expect(await told('min')).toBe(0);
});

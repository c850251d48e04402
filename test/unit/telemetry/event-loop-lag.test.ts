import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { registerEventLoopLag } from '../../../src/telemetry/event-loop-lag.ts';
import { Registry } from '../../../src/telemetry/prometheus.ts';
import { until } from '../../support/until.ts';

test('what is told is how late it was, not how often it is looked at, and anew at each scrape', async () => {
  const registry = new Registry();
  registerEventLoopLag(registry);
  const greatest = async (): Promise<number> => {
    const text = await registry.metrics();
    return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
  };
  expect(await greatest()).toBe(0);
  const late = await until('a late tick', async () => {
    // Its clock begins anew with a scrape: it has to tick once before the stall, and once after it.
    await wait(120);
    const busyUntil = performance.now() + 400;
    while (performance.now() < busyUntil);
    await wait(120);
    const seconds = await greatest();
    return seconds > 0.2 && seconds;
  });
  expect(late).toBeLessThan(60);
  await until('none', async () => {
    await wait(120);
    return (await greatest()) < 0.2;
  });
});

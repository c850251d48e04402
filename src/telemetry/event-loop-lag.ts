// How late this process's event loop was: prom-client's metrics by their names, from a clock that ticks five times less often, because its
// ten milliseconds cost more processor time than the probing of three members. What is told is the lateness alone, where prom-client
// tells the interval and the lateness together.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge } from './prometheus.ts';
import type { Registry } from './prometheus.ts';

const INTERVAL_MS = 50;
/** For prom-client's own clock, which cannot be left out. */
export const HARDLY_EVER_MS = 3_600_000;

/** Nanoseconds from one look at the clock to the next. */
type Intervals = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'count' | 'min' | 'max' | 'mean' | 'percentile' | 'reset'
>;

const FIGURES: Readonly<Record<string, (intervals: Intervals) => number>> = {
  min: ({ min }) => min,
  max: ({ max }) => max,
  mean: ({ mean }) => mean,
  p50: (intervals) => intervals.percentile(50),
  p90: (intervals) => intervals.percentile(90),
  p99: (intervals) => intervals.percentile(99),
};

function watch(): Intervals {
  const intervals = monitorEventLoopDelay({ resolution: INTERVAL_MS });
  intervals.enable();
  return intervals;
}

/** Takes the place of what prom-client has put into the registry. Each scrape tells of the time since the one before. */
export function registerEventLoopLag(registry: Registry, intervals: Intervals = watch()): void {
  registry.removeSingleMetric('nodejs_eventloop_lag_stddev_seconds');
  const names = Object.keys(FIGURES);
  for (const [figure, read] of Object.entries(FIGURES)) {
    const name = `nodejs_eventloop_lag_${figure}_seconds`;
    registry.removeSingleMetric(name);
    const gauge: Gauge = new Gauge({
      name,
      help: `How late the event loop was since the last scrape: ${figure}.`,
      registers: [registry],
      // Those of a registry are collected in order.
      collect: () => {
        const nanoseconds = intervals.count === 0 ? 0 : read(intervals) - INTERVAL_MS * 1e6;
        gauge.set(Math.max(0, nanoseconds) / 1e9);
        if (figure === names.at(-1)) intervals.reset();
      },
    });
  }
}

// Event-loop lag under prom-client's metric names, sampled every 50 ms: prom-client's 10 ms cost more CPU time than
// probing three members. Exports the lag alone; prom-client exports interval plus lag.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from './prometheus.ts';

const INTERVAL_MS = 50;
/** For prom-client's own sampling, which cannot be switched off. */
export const HARDLY_EVER_MS = 3_600_000;

/** Nanoseconds between two samples. */
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

/** Replaces prom-client's metrics in the registry. Each scrape covers the time since the previous one. */
export function registerEventLoopLag(registry: Registry, intervals: Intervals = watch()): void {
  registry.removeSingleMetric('nodejs_eventloop_lag_stddev_seconds');
  const names = Object.keys(FIGURES);
  for (const [figure, read] of Object.entries(FIGURES)) {
    const name = `nodejs_eventloop_lag_${figure}_seconds`;
    registry.removeSingleMetric(name);
    const gauge: Gauge = new Gauge({
      name,
      help: `Event-loop lag since the last scrape: ${figure}.`,
      registers: [registry],
      // The metrics of a registry are collected in order.
      collect: () => {
        const nanoseconds = intervals.count === 0 ? 0 : read(intervals) - INTERVAL_MS * 1e6;
        gauge.set(Math.max(0, nanoseconds) / 1e9);
        if (figure === names.at(-1)) intervals.reset();
      },
    });
  }
}

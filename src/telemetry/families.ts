// The metrics of one registry. With buckets it is a histogram; else a total if its name says so; else a gauge.
import { Counter, Gauge, Histogram } from './prometheus.ts';
import type { Registry } from 'prom-client';

export type Labels<Label extends string> = Readonly<Record<Label, string>>;
export type Series<Label extends string> = readonly [labels: Labels<Label>, value: number];

interface MetricFamily<Label extends string> {
  /** Increases a total, sets a gauge, or takes milliseconds into a histogram of seconds. */
  readonly put: (labels: Labels<Label>, value: number) => void;
  /** Creates a series. In a histogram it has no value yet. */
  readonly begin: (labels: Labels<Label>, value: number) => void;
  readonly remove: (labels: Labels<Label>) => void;
  readonly reset: () => void;
}

export function familyIn<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labels: readonly Label[],
  buckets?: readonly number[],
): MetricFamily<Label> {
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  if (buckets !== undefined) {
    const metric = new Histogram({ ...options, buckets: [...buckets] });
    return {
      put: (of, ms) => metric.observe(of, ms / 1000),
      begin: (of) => metric.zero(of),
      remove: (of) => metric.remove(of),
      reset: () => metric.reset(),
    };
  }
  const metric = name.endsWith('_total') ? new Counter(options) : new Gauge(options);
  const put = (of: Labels<Label>, value: number): void =>
    'set' in metric ? metric.set(of, value) : metric.inc(of, value);
  return { put, begin: put, remove: (of) => metric.remove(of), reset: () => metric.reset() };
}

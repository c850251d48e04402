// Short forms for the metrics of one registry.
import { Counter, Gauge, Histogram } from './prometheus.ts';
import type { Registry } from 'prom-client';

export interface Families {
  readonly gauge: <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) => Gauge<Label>;
  readonly counter: <Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ) => Counter<Label>;
  readonly histogram: <Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly Label[],
  ) => Histogram<Label>;
}

export function familiesIn(registry: Registry): Families {
  const registers = [registry];
  return {
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames: [...labelNames], registers }),
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames: [...labelNames], registers }),
    histogram: (name, help, buckets, labelNames = []) =>
      new Histogram({ name, help, buckets: [...buckets], labelNames: [...labelNames], registers }),
  };
}

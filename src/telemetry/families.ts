// Short forms for the metrics that are set at the scrape.
import { Counter, Gauge } from './prometheus.ts';
import type { Registry } from 'prom-client';

export interface Families {
  readonly gauge: <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) => Gauge<Label>;
  readonly counter: <Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ) => Counter<Label>;
}

export function familiesIn(registry: Registry): Families {
  const registers = [registry];
  return {
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames: [...labelNames], registers }),
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames: [...labelNames], registers }),
  };
}

// The documents about this Pointsman: metrics and status.
import { json } from '../answer.ts';
import { get } from '../endpoint.ts';
import type { Endpoint } from '../endpoint.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { StatusDocument } from '../status-document.ts';

export interface DocumentsOptions {
  readonly status: () => StatusDocument | Promise<StatusDocument>;
  readonly metrics: () => Promise<string>;
  /** Default: the Prometheus text format. */
  readonly metricsContentType?: string;
}

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

export function documents(options: DocumentsOptions): readonly Endpoint[] {
  const status = oneAtATime(async () => await options.status());
  const metrics = oneAtATime(options.metrics);
  const type = options.metricsContentType ?? PROMETHEUS;
  return [
    get({ path: '/metrics', answer: async () => ({ status: 200, type, body: await metrics() }) }),
    get({ path: '/status', answer: async () => json(200, await status()) }),
  ];
}

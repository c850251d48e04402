// The documents about this Pointsman: metrics, status, one pool of it, the last hour, and the configuration in effect.
import { unknownName } from '../../config/closest.ts';
import { compactJson, failure, json, type Answer } from '../answer.ts';
import { anyQuery, get, type Endpoint } from '../endpoint.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { SamplesDocument } from '../../documents/samples-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import type { TimelineDocument } from '../../documents/timeline-document.ts';
import { poolPart } from '../status-of-pools.ts';

export interface DocumentsOptions {
  readonly status: () => StatusDocument | Promise<StatusDocument>;
  readonly samples: () => SamplesDocument;
  readonly metrics: () => Promise<string>;
  /** Default: the Prometheus text format. */
  readonly metricsContentType?: string;
  readonly timeline: () => TimelineDocument;
  /** The configuration in effect, without secrets. */
  readonly configuration: () => Promise<object>;
}

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

export function documents(options: DocumentsOptions): readonly Endpoint[] {
  const status = oneAtATime(async () => {
    const document = await options.status();
    return { document, answer: json(200, document) };
  });
  const metrics = oneAtATime(options.metrics);
  const configuration = oneAtATime(async () => json(200, await options.configuration()));
  const samples = oneAtATime(async () => compactJson(await Promise.resolve(options.samples())));
  const timeline = oneAtATime(async () => json(200, await Promise.resolve(options.timeline())));
  const type = options.metricsContentType ?? PROMETHEUS;
  return [
    get({ path: '/metrics', query: anyQuery, answer: async () => ({ status: 200, type, body: await metrics() }) }),
    get({ path: '/status', answer: async () => (await status()).answer }),
    get({ path: '/samples', answer: samples }),
    get({ path: '/pools/NAME', answer: async ({ parameters }) => poolOf((await status()).document, parameters.name) }),
    get({ path: '/timeline', answer: timeline }),
    get({ path: '/config', answer: configuration }),
  ];
}

function poolOf(status: StatusDocument, name: string): Answer {
  const part = poolPart(status, name);
  return part === undefined
    ? unknownPool(
        name,
        status.pools.map((pool) => pool.name),
      )
    : json(200, part);
}

export function unknownPool(name: string, known: readonly string[]): Answer {
  return failure(404, unknownName('pool', name, known));
}

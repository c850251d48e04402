// The read-only pages, by path.
import { failure, json, text } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Readiness } from './status.ts';
import type { StatusDocument } from './status-document.ts';

export interface PagesOptions {
  readonly status: () => StatusDocument | Promise<StatusDocument>;
  readonly metrics: () => Promise<string>;
  /** Default: the Prometheus text format. */
  readonly metricsContentType?: string;
  readonly readiness: () => Readiness;
}

export const PAGES = ['/livez', '/readyz', '/metrics', '/status'] as const;

/** Orchestrators and load balancers call these under any host name; they reveal almost nothing. */
export function isProbe(path: (typeof PAGES)[number]): boolean {
  return path === '/livez' || path === '/readyz';
}

export async function page(options: PagesOptions, path: (typeof PAGES)[number]): Promise<Answer> {
  switch (path) {
    case '/livez':
      return text(200, 'ok\n');
    case '/readyz': {
      const readiness = options.readiness();
      return readiness.ready ? text(200, 'ready\n') : failure(503, readiness.why);
    }
    case '/metrics': {
      const type = options.metricsContentType ?? 'text/plain; version=0.0.4; charset=utf-8';
      return { status: 200, type, body: await options.metrics() };
    }
    case '/status':
      return json(200, await options.status());
  }
}

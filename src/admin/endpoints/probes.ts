// The health of this process, for orchestrators and load balancers.
import { failure, text } from '../answer.ts';
import { probe } from '../endpoint.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Readiness } from '../status.ts';

export interface ProbesOptions {
  readonly readiness: () => Readiness;
}

export function probes({ readiness }: ProbesOptions): readonly Endpoint[] {
  return [
    probe({ path: '/livez', answer: () => text(200, 'ok\n') }),
    probe({
      path: '/readyz',
      answer: () => {
        const now = readiness();
        return now.ready ? text(200, 'ready\n') : failure(503, now.why);
      },
    }),
  ];
}

// The health of this process and of its pools, for orchestrators and load balancers. A load balancer in front of
// several Pointsmans can check /primary and /replica as it checked Patroni; /pools/NAME/ready is for any pool.
import { failure, json, text, type Answer } from '../answer.ts';
import { probe, type Endpoint } from '../endpoint.ts';
import type { Readiness } from '../status.ts';
import { unknownPool } from './document-endpoints.ts';

export interface PoolReadiness {
  readonly name: string;
  readonly isExclusive: boolean;
  /** `why` names no member: the answer is for every host name. */
  readonly readiness: Readiness;
}

export interface ProbesOptions {
  readonly readiness: () => Readiness;
  /** In the operator's order. */
  readonly pools: () => readonly PoolReadiness[];
}

export function probes({ readiness, pools }: ProbesOptions): readonly Endpoint[] {
  const mirror = (path: '/primary' | '/replica', isExclusive: boolean): Endpoint =>
    probe({
      path,
      hasOptions: true,
      answer: () => {
        const pool = pools().find((one) => one.isExclusive === isExclusive);
        return pool === undefined
          ? failure(503, isExclusive ? 'no pool is exclusive' : 'every pool is exclusive')
          : readinessOf(pool);
      },
    });
  return [
    probe({ path: '/livez', answer: () => text(200, 'ok\n') }),
    probe({
      path: '/readyz',
      answer: () => {
        const now = readiness();
        return now.ready ? text(200, 'ready\n') : failure(503, now.why);
      },
    }),
    mirror('/primary', true),
    mirror('/replica', false),
    probe({
      path: '/pools/NAME/ready',
      hasOptions: true,
      answer: ({ parameters }) => {
        const all = pools();
        const pool = all.find(({ name }) => name === parameters.name);
        return pool === undefined
          ? unknownPool(
              parameters.name,
              all.map(({ name }) => name),
            )
          : readinessOf(pool);
      },
    }),
  ];
}

function readinessOf({ name, readiness }: PoolReadiness): Answer {
  if (readiness.ready) return json(200, { pool: name, ready: true });
  return json(503, { pool: name, ready: false, error: readiness.why });
}

// The dynamic configuration (GET /config): the cluster's own timing, which limits how fast it can change its primary.
// Unknown keys stay as they came.
import { isRecord } from '../model/json.ts';
import { z } from 'zod';
import { anything, flag, integer, maybe, present } from './fields.ts';

export interface DynamicConfig {
  /** Seconds. */
  readonly ttl?: number;
  /** Seconds. */
  readonly loopWait?: number;
  /** Seconds. */
  readonly retryTimeout?: number;
  /** Bytes: the default lag limit of /readiness. */
  readonly maximumLagOnFailover?: number;
  readonly pause?: boolean;
  readonly failsafeMode?: boolean;
  /** `on`, `off`, `quorum`, or the text of a boolean. */
  readonly synchronousMode?: string;
  readonly isStandbyCluster: boolean;
  /** The whole object as it came, unchecked. */
  readonly all: Readonly<Record<string, unknown>>;
}

export type ParsedDynamicConfig =
  | { readonly kind: 'config'; readonly config: DynamicConfig }
  | { readonly kind: 'invalid'; readonly why: string };

const dynamicConfig = z.object({
  ttl: maybe(integer),
  loop_wait: maybe(integer),
  retry_timeout: maybe(integer),
  maximum_lag_on_failover: maybe(integer),
  pause: flag,
  failsafe_mode: flag,
  synchronous_mode: maybe(z.union([z.string(), z.boolean().transform(String)])),
  standby_cluster: anything,
});

export function readDynamicConfig(json: unknown): ParsedDynamicConfig {
  if (!isRecord(json)) return { kind: 'invalid', why: 'not a JSON object' };
  const parsed = dynamicConfig.safeParse(json);
  if (!parsed.success) return { kind: 'invalid', why: 'not a configuration' };
  const fields = parsed.data;
  const known = present({
    ttl: fields.ttl,
    loopWait: fields.loop_wait,
    retryTimeout: fields.retry_timeout,
    maximumLagOnFailover: fields.maximum_lag_on_failover,
    pause: fields.pause,
    failsafeMode: fields.failsafe_mode,
    synchronousMode: fields.synchronous_mode,
  });
  return { kind: 'config', config: { ...known, isStandbyCluster: isRecord(fields.standby_cluster), all: json } };
}

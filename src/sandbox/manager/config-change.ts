// Changes of the dynamic configuration: merged or replaced, then checked as a whole. A refused change changes nothing,
// and the reason names the path of the key.
import { z } from 'zod';
import { asBoolean, isObject } from './cluster-settings.ts';
import type { ConfigOutcome } from './operation-outcomes.ts';
import { whyOwned } from './parameters.ts';
import type { JsonObject, JsonValue } from './view.ts';

/** PATCH: objects are merged, null removes a key, any other value replaces it (management API). */
export function patched(config: JsonObject, changes: JsonObject): ConfigOutcome {
  return check(merge(config, changes));
}

/** PUT: absent keys are removed, and null means absent. */
export function replaced(config: JsonObject): ConfigOutcome {
  return check(merge({}, config));
}

function merge(old: JsonObject, changes: JsonObject): JsonObject {
  const merged = new Map(Object.entries(old));
  for (const [key, value] of Object.entries(changes)) {
    const before = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? merge(isObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

const positive = z.number('must be a number').positive('must be more than 0');
const nonNegative = z.number('must be a number').nonnegative('must not be negative');
const truth = z
  .union([z.boolean(), z.string()], 'must be true or false')
  .refine((value) => asBoolean(value) !== undefined, 'must be true or false');
const scalar = z.union([z.string(), z.number(), z.boolean()], 'must be a string, a number or a boolean');

const parameters = z
  .record(z.string(), scalar, 'must be an object of names and values')
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      const why = whyOwned(name);
      if (why !== undefined) context.addIssue({ code: 'custom', path: [name], message: why });
    }
  });

const synchronousMode = z
  .union([z.boolean(), z.string()], 'must be true, false or quorum')
  .refine((value) => value === 'quorum' || asBoolean(value) !== undefined, 'must be true, false or quorum');

const standbyCluster = z.looseObject(
  {
    host: z.string('must be a string').optional(),
    port: z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)], 'must be a port').optional(),
  },
  'must be an object',
);

/** Other keys are accepted with any value, as in real Patroni. */
const dynamicConfig = z.looseObject({
  ttl: positive.optional(),
  loop_wait: positive.optional(),
  retry_timeout: positive.optional(),
  maximum_lag_on_failover: nonNegative.optional(),
  pause: truth.optional(),
  failsafe_mode: truth.optional(),
  synchronous_mode: synchronousMode.optional(),
  standby_cluster: standbyCluster.optional(),
  postgresql: z
    .looseObject({ use_pg_rewind: truth.optional(), parameters: parameters.optional() }, 'must be an object')
    .optional(),
});

function check(config: JsonObject): ConfigOutcome {
  const parsed = dynamicConfig.safeParse(config);
  if (parsed.success) return { kind: 'done', config };
  return { kind: 'invalid', text: parsed.error.issues.map((issue) => reason(issue, config)).join('; ') };
}

function reason(issue: z.core.$ZodIssue, config: JsonObject): string {
  const given = issue.path.reduce<JsonValue | undefined>(
    (value, key) => (isObject(value) ? value[String(key)] : undefined),
    config,
  );
  return `${issue.path.join('.')} ${issue.message}, not ${JSON.stringify(given)}`;
}

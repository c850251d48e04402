// The types that the management API gives to keys of the dynamic configuration ("Dynamic configuration"). Null removes a key. What
// the values mean is judged by the manager.
import { z } from 'zod';
import type { JsonObject } from '../manager/view.ts';

const integer = z.int('must be an integer').nullish();

const typed = z.looseObject({
  ttl: integer,
  loop_wait: integer,
  retry_timeout: integer,
  maximum_lag_on_failover: integer,
  postgresql: z
    .looseObject(
      {
        use_pg_rewind: z.boolean('must be true or false').nullish(),
        parameters: z.record(z.string(), z.string('must be a string').nullable(), 'must be an object').nullish(),
      },
      'must be an object',
    )
    .nullish(),
});

/** Why a body of PATCH or PUT /config is refused; undefined when every type is right. */
export function whyWrongType(config: JsonObject): string | undefined {
  const parsed = typed.safeParse(config);
  if (parsed.success) return undefined;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
}

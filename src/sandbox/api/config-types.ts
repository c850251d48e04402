// The types of the keys of the dynamic configuration, by the management API ("Dynamic configuration"). Null removes a
// key. The manager judges the meaning of the values.
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

/** The reason why a body of PATCH or PUT /config is refused; undefined when every type is right. */
export function whyWrongType(config: JsonObject): string | undefined {
  const parsed = typed.safeParse(config);
  if (parsed.success) return undefined;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
}

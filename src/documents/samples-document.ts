// The answer of GET /samples.
import { z } from 'zod';
import { byName, count, list } from './document-parts.ts';

const values = list(z.number().min(0).nullable());

export const samplesDocument = z.strictObject({
  interval_seconds: count,
  times: list(z.number()).describe(
    'Seconds since 1970, ascending: at most one hour. Each list below has as many values.',
  ),
  pools: byName(
    z.strictObject({
      sessions: values.describe('That connect to a member, have one, or are parked between two of them.'),
      waiting: values.describe('The most clients that waited at a time since the sample before.'),
      parked: values.describe('The most sessions that were parked or moving at a time since the sample before.'),
    }),
  ).describe('Null: there was no such pool. A pool that is gone stays for an hour.'),
  members: byName(
    z.strictObject({
      lag_bytes: values.describe('Null: unknown, or it was the primary, or no member.'),
      sessions: values,
    }),
  ),
});

export type SamplesDocument = z.infer<typeof samplesDocument>;

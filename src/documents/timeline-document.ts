// The answer of GET /timeline: the last hour as spans. Null: the span goes on, or the value does not apply.
import { z } from 'zod';
import { list, time } from './document-parts.ts';

export const span = z.strictObject({
  id: z.string().describe('Unique within one run of Pointsman, and the same in every answer.'),
  kind: z
    .enum(['no_route', 'hold', 'lag', 'drained', 'handover'])
    .describe(
      'no_route: a pool had no member to route to. hold: clients of a pool waited. lag: a member was over the lag ' +
        'limit of a pool. drained: the operator drained a member. handover: a switchover that Pointsman ran.',
    ),
  from: time.describe('It may be earlier than the hour.'),
  to: time.nullable().describe('Null: the span goes on.'),
  pool: z.string().nullable(),
  member: z.string().nullable(),
  severity: z.enum(['info', 'warn', 'error']).describe('info: planned, or nobody was refused.'),
  text: z.string().describe('One line: `pool write: no route for 3.9 s (no eligible member)`.'),
  incident_id: z.string().nullable().describe('The incident of this time: GET /incidents/ID.'),
});

export const timelineDocument = z.strictObject({
  from: time.describe('The spans are complete from here on: an hour ago, or less after a start or very many spans.'),
  to: time.describe('The time of this answer.'),
  spans: list(span).describe('The earliest first.'),
});

export type SpanDocument = z.infer<typeof span>;
export type TimelineDocument = z.infer<typeof timelineDocument>;

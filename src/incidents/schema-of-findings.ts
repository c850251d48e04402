// The findings in the document of an incident, and the kinds of values that they have.
import { z } from 'zod';
import { PLANNED_BY } from '../history/planned-or-not.ts';
import { PLANS } from '../reports/events.ts';

export const time = z.iso.datetime().describe('ISO 8601, UTC, with milliseconds.');
export const seconds = z.number().min(0);
export const count = z.int().min(0);
export const member = z.string();
export const pool = z.string();

export function list<Item extends z.ZodType>(item: Item): z.ZodReadonly<z.ZodArray<Item>> {
  return z.array(item).readonly();
}

export const eventId = z.string().describe('RUN-NUMBER, as in the log (event_id) and in GET /events.');
const eventIds = list(eventId).describe('The events that the finding rests on. Each one is in `events`.');
export const text = z.string().describe('One or two sentences.');

function finding<const Name extends string, Shape extends z.ZodRawShape>(
  name: Name,
  about: string,
  shape: Shape,
  says = text,
) {
  return z.strictObject({ finding: z.literal(name), ...shape, event_ids: eventIds, text: says }).describe(about);
}

const occurrences = { count, first: time, last: time, event_ids: eventIds };
const byReason = list(z.strictObject({ reason: z.string(), count }));
const interruption = count.min(1).describe('The number of the interruption in this incident, from 1.');

export const anyFinding = z.discriminatedUnion('finding', [
  finding('no_route', 'The time in which a pool had no route, as this Pointsman saw it.', {
    interruption,
    pool,
    write: z.boolean().describe('True for a pool of the primary.'),
    from: time.describe('Since then the pool had no route for new sessions.'),
    to: time.nullable().describe('Since then it had one again. Null: not yet.'),
    seconds: seconds.nullable().describe('From `from` to `to`, by the monotonic clock.'),
    cause: z.string().describe('The cause of the hold; closed: clients were refused.'),
  }),
  finding('no_service', 'From the first sign of the loss to the first client that was served again.', {
    interruption,
    pool,
    from: time.describe(
      'The first sign: a failed probe, a broken session, a failed connect, or the loss of the route.',
    ),
    to: time.nullable().describe('The first session on a member after it. Null: not yet.'),
    seconds: seconds.nullable(),
  }),
  finding('old_primary', 'The last positive and the first negative answer of the old primary.', {
    interruption,
    member,
    last_positive: time.nullable().describe('Its last yes to the check of the pool. Null: not recorded.'),
    first_negative: time.nullable().describe('Its first other answer, or failed probe, after that.'),
    outcome: z.string().nullable().describe('The outcome of the first negative: no, refused, timeout, …'),
  }),
  finding('decision', 'The decision that took new sessions away from the old primary.', {
    interruption,
    pool,
    member,
    time,
    reason: z.string().describe('The code of the log field `reason`.'),
  }),
  finding('next_primary', 'The next primary was proven.', {
    interruption,
    pool,
    member,
    time: time.describe('Since then it takes new sessions.'),
    same: z.boolean().describe('It is the old primary.'),
  }),
  finding('first_client', 'The first client that was served after the interruption.', {
    interruption,
    pool,
    member,
    time: time.describe('When its session began on the member.'),
  }),
  finding('timelines', 'The timeline of the primary before and after. Both come from the snapshots.', {
    before: z.number().nullable(),
    after: z.number().nullable(),
  }),
  finding('sessions_moved', 'Sessions that moved to another server, or were to move.', {
    pool,
    moved: count.describe('They go on at another server.'),
    stayed: byReason.describe(
      'They were to move and could not. They are among the sessions that were cut, if they were.',
    ),
    failed: byReason.describe('Their move failed: close reasons. They are among the sessions that were cut.'),
    longest_gap_seconds: seconds.describe('Without a server, of a session that moved.'),
  }),
  finding('reads_late', 'Causal reads that were late on a member (`causal_reads` of the pool).', {
    pool,
    member: member.describe('It did not show in time what the reads had to see.'),
    total: count,
    moved: count.describe('Their sessions moved to a member that showed all.'),
    refused: count,
    stale: count.describe('They ran all the same.'),
    from: time.describe('The first.'),
    to: time.describe('The last.'),
    seconds,
  }),
  finding('sessions_cut', 'Sessions that did not end by their clients.', {
    total: count,
    groups: list(
      z.strictObject({
        pool,
        member,
        reason: z.string().describe('A close reason: the label of metrics and log.'),
        ...occurrences,
      }),
    ),
  }),
  finding('logins_refused', 'Logins that members refused. Some of the clients were served elsewhere, or later.', {
    total: count,
    groups: list(
      z.strictObject({
        pool,
        member,
        sqlstate: z.string().nullable().describe('Null: the member closed without an error.'),
        ...occurrences,
      }),
    ),
  }),
  finding('holds', 'Clients that waited for a route. Percentiles are exact to 2 %; the longest is exact.', {
    pool,
    count: count.describe('Clients that waited, and whose wait ended.'),
    released: count.describe('They got a session.'),
    refused: count.describe('They got an error: the time limit, or a definite no.'),
    gave_up: count,
    p50_seconds: seconds,
    p90_seconds: seconds,
    p99_seconds: seconds,
    longest_seconds: seconds,
  }),
  finding('members_refused', 'Members of the cluster that Pointsman may not contact, when the trouble began.', {
    members: list(z.strictObject({ member, why: z.string().describe('With the setting to change.') })),
  }),
  finding('clients_refused', 'Clients that never reached a member.', {
    total: count,
    groups: list(z.strictObject({ pool, reason: z.string(), count, event_ids: eventIds })),
  }),
  finding(
    'plan',
    'Whether somebody wanted the change.',
    {
      interruption: interruption.nullable().describe('Null: the incident interrupted no pool of the primary.'),
      planned: z.enum(PLANS),
      by: z
        .enum(PLANNED_BY)
        .nullable()
        .describe('cluster_manager: concluded from the reports of the members. Null: not planned, or unknown.'),
    },
    text.describe('The reason, also for unknown.'),
  ),
]);

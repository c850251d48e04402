// The findings about sessions and clients, and about members that no session can use.
import { z } from 'zod';
import { count, eventIds, list, member, pool, seconds, text, time } from './schema-parts.ts';

const occurrences = { count, first: time, last: time, event_ids: eventIds };

export const sessionsCut = z
  .strictObject({
    finding: z.literal('sessions_cut'),
    total: count,
    groups: list(
      z.strictObject({
        pool,
        member,
        reason: z.string().describe('A close reason: the label of metrics and log.'),
        ...occurrences,
      }),
    ),
    event_ids: eventIds,
    text,
  })
  .describe('Sessions that did not end by their clients.');

export const loginsRefused = z
  .strictObject({
    finding: z.literal('logins_refused'),
    total: count,
    groups: list(
      z.strictObject({
        pool,
        member,
        sqlstate: z.string().nullable().describe('Null: the member closed without an error.'),
        ...occurrences,
      }),
    ),
    event_ids: eventIds,
    text,
  })
  .describe('Logins that members refused. Some of the clients were served elsewhere, or later.');

const byReason = list(z.strictObject({ reason: z.string(), count }));

export const sessionsMoved = z
  .strictObject({
    finding: z.literal('sessions_moved'),
    pool,
    moved: count.describe('They go on at another server.'),
    stayed: byReason.describe(
      'They were to move and could not. They are among the sessions that were cut, if they were.',
    ),
    failed: byReason.describe('Their move failed: close reasons. They are among the sessions that were cut.'),
    longest_gap_seconds: seconds.describe('Without a server, of a session that moved.'),
    event_ids: eventIds,
    text,
  })
  .describe('Sessions that moved to another server, or were to move.');

export const holds = z
  .strictObject({
    finding: z.literal('holds'),
    pool,
    count: count.describe('Clients that waited, and whose wait ended.'),
    released: count.describe('They got a session.'),
    refused: count.describe('They got an error: the time limit, or a definite no.'),
    gave_up: count,
    p50_seconds: seconds,
    p90_seconds: seconds,
    p99_seconds: seconds,
    longest_seconds: seconds,
    event_ids: eventIds,
    text,
  })
  .describe('Clients that waited for a route. Percentiles are exact to 2 %; the longest is exact.');

export const membersRefused = z
  .strictObject({
    finding: z.literal('members_refused'),
    members: list(z.strictObject({ member, why: z.string().describe('With the setting to change.') })),
    event_ids: eventIds,
    text,
  })
  .describe('Members of the cluster that Pointsman may not contact, when the trouble began.');

export const refusals = z
  .strictObject({
    finding: z.literal('clients_refused'),
    total: count,
    groups: list(z.strictObject({ pool, reason: z.string(), count, event_ids: eventIds })),
    event_ids: eventIds,
    text,
  })
  .describe('Clients that never reached a member.');

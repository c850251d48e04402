// The findings about sessions that servers ended or refused, in the document of an incident.
import { z } from 'zod';
import { count, eventIds, list, member, pool, text, time } from './schema-parts.ts';

export const sessionsCut = z
  .strictObject({
    finding: z.literal('sessions_cut'),
    total: count,
    groups: list(
      z.strictObject({
        pool,
        member,
        reason: z.string().describe('A close reason: the label of metrics and log.'),
        count,
        first: time,
        last: time,
        event_ids: eventIds,
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
        count,
        first: time,
        last: time,
        event_ids: eventIds,
      }),
    ),
    event_ids: eventIds,
    text,
  })
  .describe('Logins that members refused. Some of the clients were served elsewhere, or later.');

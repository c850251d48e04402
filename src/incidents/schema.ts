// The document of one incident, version 1. The running program imports its types alone: zod is loaded for a file that
// is read again, and by the tests that write deploy/incident.schema.json and deploy/incidents.md.
import { z } from 'zod';
import { PLANS } from '../reports/events.ts';
import { anyFinding, count, eventId, list, member, pool, seconds, text, time } from './schema-of-findings.ts';

export const SCHEMA_VERSION = 1;

export const INCIDENT_KINDS = [
  'primary_lost',
  'no_primary_usable',
  'primary_changed',
  'two_primaries',
  'read_pool_empty',
  'sessions_evicted',
  'reads_late',
  'all_members_silent',
] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

export const incidentEvent = z.strictObject({
  id: eventId,
  time: time.describe('When it happened. For a probe: when its answer came, or when it failed.'),
  event: z.string().describe('Its name in the log: deploy/log-events.md.'),
  message: z.string().describe('The sentence of the log.'),
  fields: z.record(z.string(), z.unknown()).describe('The fields of the log line.'),
  repeated: z
    .strictObject({
      count: count.describe('All of them, the first one included.'),
      last_id: eventId,
      last_time: time,
      last_message: z.string(),
      waits: list(z.strictObject({ ms: z.number(), count }))
        .exactOptional()
        .describe('How many clients of hold_ended waited how long, to 2 %. The shortest first.'),
      longest_wait_ms: z.number().exactOptional().describe('The longest wait of hold_ended, exact.'),
    })
    .exactOptional()
    .describe('Present when equal events followed: one entry has them all. `fields` are those of the first.'),
});

const snapshotMember = z.strictObject({
  name: member,
  role: z.string().nullable().describe('From its newest answer.'),
  state: z.string().nullable(),
  timeline: z.number().nullable(),
  answer_age_seconds: seconds.nullable().describe('Age of its newest answer. Null: it has never answered.'),
  failing: z.string().nullable().describe('Why its newest probe has no answer. Null: it answered.'),
  lag_bytes: z.number().nullable().describe('Behind the primary, by our own estimate. Null: unknown, or the primary.'),
  staleness_seconds: seconds
    .exactOptional()
    .describe('Age of the oldest position of the primary that it had not replayed. Absent: unknown, or the primary.'),
  standings: z.record(z.string(), z.string()).describe('By pool: open, keep or leave.'),
  sessions: z.record(z.string(), count).describe('By pool: sessions on it.'),
});

export const incidentSnapshot = z.strictObject({
  when: z.enum(['before', 'during', 'after']),
  time,
  after_event: eventId.nullable().describe('The newest event before it. Null: there was none.'),
  timeline: z.number().nullable().describe('The highest on which a member was confirmed as primary.'),
  scheduled_switchover: z.strictObject({ time, from: member }).nullable().describe('From the newest member list.'),
  pools: list(
    z.strictObject({
      name: pool,
      exclusive: z.boolean().describe('For the primary: at most one member takes its sessions.'),
      check: z.string().describe('The health endpoint that its members must pass.'),
      route: z.enum(['open', 'hold', 'closed']),
      cause: z.string().nullable().describe('The cause of a hold.'),
      members: list(member).describe('They take new sessions.'),
      fallback: pool.nullable().describe('The pool whose members serve it. Null: its own members.'),
      sessions: count.describe('Connected to a member.'),
      connecting: count.describe('On the way to a member.'),
      closing: count.describe('Ended; their clients still read the reason.'),
      waiting: count.describe('Clients that wait for a route.'),
    }),
  ),
  members: list(snapshotMember),
});

export const MISSING = [
  'before_start',
  'short_record',
  'events_dropped',
  'process_ended',
  'worker_died',
  'logins_hidden',
  'evidence_gap',
  'cause',
  'transactions',
  'other_clients',
] as const;

const missing = z.strictObject({
  what: z.enum(MISSING),
  why: text,
  count: count.exactOptional().describe('The number of dropped events, or of sessions.'),
});

export const incidentDocument = z.strictObject({
  api_version: z.literal(1).exactOptional().describe('Only in an answer of the admin API, or of the command line.'),
  schema_version: z.literal(SCHEMA_VERSION),
  id: z.string().describe('The day of its beginning (UTC), and a number: 2026-11-22-1.'),
  state: z.enum(['open', 'settled']).describe('A settled incident opens again when trouble returns within a minute.'),
  opened_at: time,
  settled_at: time.nullable().describe('Null while it is open, and if Pointsman ended before.'),
  reopened_at: list(time).describe('When trouble returned after it had settled. The newest 20.'),
  continues: z.string().nullable().describe('The incident that it follows: that one lasted for an hour.'),
  continued_by: z.string().nullable(),
  interrupted: z.boolean().describe('Pointsman ended while it was open: the end of the incident is not recorded.'),
  cluster: z.strictObject({ scope: z.string().nullable(), system_identifier: z.string().nullable() }),
  kinds: list(z.enum(INCIDENT_KINDS)).describe('What happened, in the order of the first occurrences.'),
  planned: z
    .enum(PLANS)
    .describe('planned: all its interruptions were. unplanned: one was not. Else unknown. See the finding `plan`.'),
  summary: z.string().describe('One sentence.'),
  recorder: z.strictObject({
    version: z.string().describe('The version of Pointsman.'),
    run: z.string().describe('The first part of its event ids.'),
    started_at: time,
    workers: count,
  }),
  redaction: z.strictObject({
    redacted: z.boolean().describe('True: names stand for client addresses, users, databases and applications.'),
    note: text,
  }),
  snapshots: list(incidentSnapshot),
  events: list(incidentEvent).describe('In the order of their times.'),
  findings: list(anyFinding).describe('Computed from `events` and `snapshots` alone.'),
  missing: list(missing).describe('What the incident does not show, and why.'),
});

/** One row of the list of incidents. */
export const incidentEntry = z.strictObject({
  ...incidentDocument.pick({ id: true, state: true }).shape,
  opened_at: z.iso.datetime(),
  settled_at: z.iso.datetime().nullable().describe('Null while it is open.'),
  kinds: list(z.enum(INCIDENT_KINDS)),
  planned: z.enum(PLANS),
  no_write_route_seconds: seconds
    .nullable()
    .describe('Without a route for pools of the primary, all interruptions together. Null: none, or not over yet.'),
  summary: incidentDocument.shape.summary,
});

export type IncidentEntry = z.infer<typeof incidentEntry>;
export type IncidentDocument = z.infer<typeof incidentDocument>;
export type IncidentEvent = z.infer<typeof incidentEvent>;
export type IncidentSnapshot = z.infer<typeof incidentSnapshot>;
export type SnapshotOfMember = z.infer<typeof snapshotMember>;
export type Finding = z.infer<typeof anyFinding>;
export type FindingOf<Name extends Finding['finding']> = Extract<Finding, { finding: Name }>;
export type MissingEvidence = z.infer<typeof missing>;

// The document of an incident with findings, pictures and events, for tests of its looks.
import type { IncidentDocument } from '../../../src/incidents/schema.ts';
import { anIncident } from './incidents.ts';

const at = (ms: number): string => new Date(Date.parse('2026-11-22T14:00:00Z') + ms).toISOString();
const id = (number: number): string => `r1-${number}`;

const event = (number: number, ms: number, kind: string, message: string): IncidentDocument['events'][number] => ({
  id: id(number),
  time: at(ms),
  event: kind,
  message,
  fields: {},
});

const pool = (route: 'open' | 'hold', members: readonly string[]) => ({
  name: 'write',
  check: '/primary',
  exclusive: true,
  route,
  cause: route === 'hold' ? 'no_member' : null,
  members,
  fallback: null,
  sessions: members.length * 12,
  connecting: 0,
  closing: 0,
  waiting: route === 'hold' ? 17 : 0,
});

const member = (name: string, role: string | null, timeline: number | null, failing: string | null = null) => ({
  name,
  role,
  state: role === null ? null : 'running',
  timeline,
  answer_age_seconds: 0.3,
  failing,
  lag_bytes: null,
  standings: { write: role === 'primary' ? 'open' : 'leave' },
  sessions: { write: role === 'primary' ? 12 : 0 },
});

export const AN_OUTAGE: IncidentDocument = anIncident({
  summary: 'pg-1 was lost, unplanned; pg-2 is the primary on timeline 2; pool write had no route for 3.9 s.',
  snapshots: [
    {
      when: 'before',
      time: at(-100),
      after_event: id(1),
      timeline: 1,
      scheduled_switchover: null,
      pools: [pool('open', ['pg-1'])],
      members: [member('pg-1', 'primary', 1), member('pg-2', 'replica', 1)],
    },
    {
      when: 'during',
      time: at(0),
      after_event: id(3),
      timeline: 1,
      scheduled_switchover: null,
      pools: [pool('hold', [])],
      members: [member('pg-1', null, null, 'connection refused'), member('pg-2', 'replica', 1)],
    },
    {
      when: 'after',
      time: at(13_900),
      after_event: id(40),
      timeline: 2,
      scheduled_switchover: null,
      pools: [pool('open', ['pg-2'])],
      members: [member('pg-1', null, null, 'connection refused'), member('pg-2', 'primary', 2)],
    },
  ],
  events: [
    event(2, -20, 'session_closed', 'session 7: client-1 on pg-1 closed after 12 s: backend_closed'),
    event(3, 0, 'route_changed', 'pool write: no eligible member, clients wait'),
    ...Array.from({ length: 36 }, (_, index) =>
      event(4 + index, 100 * index, 'probe_finished', 'pg-1 /primary: refused in 1 ms: PostgreSQL port: refused'),
    ),
    event(40, 3900, 'route_changed', 'pool write: open on pg-2'),
  ],
  findings: [
    {
      finding: 'no_route',
      interruption: 1,
      pool: 'write',
      write: true,
      from: at(0),
      to: at(3900),
      seconds: 3.9,
      cause: 'no_member',
      event_ids: [id(3), id(40)],
      text: 'Pool write had no route from 14:00:00.000 to 14:00:03.900: 3.90 s.',
    },
    {
      finding: 'decision',
      interruption: 1,
      pool: 'write',
      member: 'pg-1',
      time: at(0),
      reason: 'refused',
      event_ids: [id(3)],
      text: 'No new sessions for pg-1 from 14:00:00.000 on: both ports refuse.',
    },
    {
      finding: 'next_primary',
      interruption: 1,
      pool: 'write',
      member: 'pg-2',
      time: at(3900),
      same: false,
      event_ids: [id(40)],
      text: 'New sessions go to pg-2, the next primary, from 14:00:03.900 on.',
    },
    { finding: 'timelines', before: 1, after: 2, event_ids: [id(40)], text: 'Timeline 1 before, timeline 2 after.' },
    {
      finding: 'sessions_cut',
      total: 2,
      groups: [
        {
          pool: 'write',
          member: 'pg-1',
          reason: 'backend_closed',
          count: 2,
          first: at(-20),
          last: at(-20),
          event_ids: [id(2)],
        },
      ],
      event_ids: Array.from({ length: 12 }, (_, index) => id(4 + index)),
      text: '2 sessions were cut.',
    },
    {
      finding: 'holds',
      pool: 'write',
      count: 17,
      released: 17,
      refused: 0,
      gave_up: 0,
      p50_seconds: 3.1,
      p90_seconds: 3.8,
      p99_seconds: 3.9,
      longest_seconds: 3.9,
      event_ids: [id(40)],
      text: '17 clients of pool write waited (half of them at most 3.10 s, the longest 3.90 s).',
    },
  ],
  missing: [
    { what: 'logins_hidden', why: 'TLS between client and server hides users and databases of some sessions.' },
  ],
});

// The events of a primary that dies, as the program reports them.
import type { ReportedEvent } from '../../../src/reports/events.ts';

export const probe = (member: string, outcome: string, check = '/primary'): ReportedEvent => ({
  kind: 'probe_finished',
  member,
  check,
  outcome,
  detail: undefined,
  durationMs: 2,
});

export const report = (member: string, state: string, isUnlocked = false, storeUnseenMs?: number): ReportedEvent => ({
  kind: 'member_reported',
  member,
  role: 'primary',
  state,
  timeline: 5,
  isUnlocked,
  storeUnseenMs,
});

export const reset = (user: string): Extract<ReportedEvent, { kind: 'session_closed' }> => ({
  kind: 'session_closed',
  pool: 'write',
  session: 7,
  member: 'pg-1',
  client: '10.9.8.7:4711',
  user,
  database: 'shop',
  application: `${user} on host-7`,
  reason: 'backend_reset',
  detail: 'the server of shop was reset',
  durationMs: 5,
  toBackendBytes: 1,
  toClientBytes: 1,
});

export const excluded: Extract<ReportedEvent, { kind: 'standing_changed' }> = {
  kind: 'standing_changed',
  pool: 'write',
  member: 'pg-1',
  from: { kind: 'open', why: { code: 'positive' } },
  to: { kind: 'leave', cause: 'dead', why: { code: 'refused' } },
  text: 'API and PostgreSQL refuse connections',
};

export const proven: Extract<ReportedEvent, { kind: 'standing_changed' }> = {
  kind: 'standing_changed',
  pool: 'write',
  member: 'pg-2',
  from: { kind: 'leave', cause: 'demoted', why: { code: 'wrong_role' } },
  to: { kind: 'open', why: { code: 'positive' } },
  text: 'answered 200 to /primary',
};

export const held = (waitedMs: number, outcome: 'released' | 'timeout' = 'released'): ReportedEvent => ({
  kind: 'hold_ended',
  pool: 'write',
  session: 9,
  outcome,
  waitedMs,
});

export const opened: ReportedEvent = {
  kind: 'session_opened',
  pool: 'write',
  session: 9,
  member: 'pg-2',
  client: '10.9.8.7:1',
};

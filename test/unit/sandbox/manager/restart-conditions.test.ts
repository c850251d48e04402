import { describe, expect, it } from 'vitest';
import { judgeSchedule, versionNumber, whyNoRestart } from '../../../../src/sandbox/manager/restart-conditions.ts';
import type { RestartSubject } from '../../../../src/sandbox/manager/restart-conditions.ts';

const PENDING = { max_connections: { old_value: '100', new_value: '150' } };
const REPLICA: RestartSubject = { role: 'replica', serverVersion: 180_004, pendingRestart: {} };

describe('a restart', () => {
  it('needs every given condition', () => {
    expect(whyNoRestart({}, REPLICA)).toBeUndefined();
    expect(whyNoRestart({ role: 'replica', postgres_version: '18.5' }, REPLICA)).toBeUndefined();
    expect(whyNoRestart({ role: 'replica', postgres_version: '18.5', restart_pending: true }, REPLICA)).toContain(
      'pending',
    );
    expect(whyNoRestart({ role: 'primary' }, REPLICA)).toBe('role is replica, not primary');
    expect(whyNoRestart({ restart_pending: true }, { ...REPLICA, pendingRestart: PENDING })).toBeUndefined();
    expect(whyNoRestart({ restart_pending: false }, REPLICA)).toBeUndefined();
  });

  it('with a version is for servers below it', () => {
    expect(whyNoRestart({ postgres_version: '18.4' }, REPLICA)).toBe('PostgreSQL version is not lower than 18.4');
    expect(whyNoRestart({ postgres_version: '19' }, REPLICA)).toBeUndefined();
    expect(whyNoRestart({ postgres_version: '17.9' }, REPLICA)).toContain('not lower');
    expect(whyNoRestart({ postgres_version: '19' }, { ...REPLICA, serverVersion: undefined })).toContain('not known');
  });
});

it.each([
  ['18.4', 180_004],
  ['18', 180_000],
  ['10.23', 100_023],
  ['9.6.3', 90_603],
  ['eighteen', undefined],
])('version %s is %s', (text, number) => {
  expect(versionNumber(text)).toBe(number);
});

describe('a scheduled restart', () => {
  const scheduled = { schedule: '2026-07-01T12:00:00+02:00', postmaster_start_time: 'then' };
  const before = new Date('2026-07-01T09:59:59Z');
  const after = new Date('2026-07-01T10:00:00Z');

  it('waits for its time', () => {
    expect(judgeSchedule(scheduled, 'then', before)).toBe('wait');
    expect(judgeSchedule(scheduled, 'then', after)).toBe('now');
  });

  it('is void if PostgreSQL was restarted since', () => {
    expect(judgeSchedule(scheduled, 'later', before)).toBe('void');
    expect(judgeSchedule(scheduled, undefined, after), 'a stopped one was not').toBe('now');
  });
});

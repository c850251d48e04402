// The words of `pointsman drain` before and after it: the clients that wait, and the sessions by `on_leave.operator`.
import { describe, expect, test } from 'vitest';
import { drainWarning, remainText } from '../../../../src/cli/sessions/drain-text.ts';
import { statusReader } from '../../../../src/cli/status/read-status.ts';
import type { Status } from '../../../../src/cli/status/read-status.ts';

const NO_SESSIONS = { by_state: {}, accepted: 0, closed: 0, to_backend_bytes: 0, to_client_bytes: 0 };

function pool(name: string, open: readonly string[], on_drain?: string, sessions: number[] = []): object {
  return {
    name,
    check: `/${name}`,
    exclusive: name === 'write',
    route: { kind: 'open', members: open.map((member) => ({ name: member })), fallback: null },
    why: '',
    on_drain,
    sessions: { ...NO_SESSIONS, by_member: Object.fromEntries(open.map((member, i) => [member, sessions[i] ?? 0])) },
  };
}

const of = (...pools: readonly object[]): Status =>
  statusReader.parse({
    uptime_seconds: 1,
    cluster: {},
    members: [],
    pools,
    limits: { client_wait_seconds: 30, park_seconds: 20 },
  });

describe('the warning', () => {
  test('of a replica: there is none', () => {
    expect(drainWarning('pg-2', of(pool('write', ['pg-1']), pool('read', ['pg-2'], 'move', [3])))).toBeUndefined();
  });

  test('of the primary says that clients wait', () => {
    expect(drainWarning('pg-1', of(pool('write', ['pg-1'], 'drain', [12])))).toBe(
      'pg-1 is the primary: 12 clients will wait',
    );
  });

  test('of the primary with sessions that move says when they end', () => {
    expect(drainWarning('pg-1', of(pool('write', ['pg-1'], 'move', [1])))).toBe(
      'pg-1 is the primary: 1 client will wait. Sessions that can move are parked, and end after 20 s ' +
        '(moves.park_timeout) unless pg-1 is resumed or another member is the primary by then. ' +
        'A drain is no switchover',
    );
  });

  test('of the primary without a session has no word about parked ones', () => {
    const idle = of(pool('write', ['pg-1'], 'move'));
    expect(drainWarning('pg-1', idle)).toBe('pg-1 is the primary: new clients will wait');
  });
});

describe('the sessions', () => {
  test.each([
    ['close', '2 sessions end at once'],
    ['drain', '2 sessions end between two transactions'],
    ['drain_idle', '2 sessions end between two transactions'],
    ['keep', '2 sessions stay on it'],
    ['move', '2 sessions move to another member, or end between two transactions if they cannot'],
  ] as const)('of a replica, on_leave.operator: %s', (mode, text) => {
    expect(remainText('pg-2', of(pool('read', ['pg-2', 'pg-3'], mode, [2])))).toBe(
      `${text} (on_leave.operator: ${mode})`,
    );
  });

  test.each([
    [1, '1 session is parked, or ends between two transactions if it cannot move'],
    [2, '2 sessions are parked, or end between two transactions if they cannot move'],
  ])('of the primary, %i that move', (sessions, text) => {
    expect(remainText('pg-1', of(pool('write', ['pg-1'], 'move', [sessions])))).toBe(
      `${text} (on_leave.operator: move)`,
    );
  });

  test('of two pools', () => {
    const both = of(pool('write', ['pg-1'], 'drain', [1]), pool('reports', ['pg-1', 'pg-2'], 'keep', [3, 4]));
    expect(remainText('pg-1', both)).toBe(
      '1 session ends between two transactions (on_leave.operator: drain)\n' +
        '3 sessions stay on it (on_leave.operator: keep)',
    );
  });

  test('of an older Pointsman, which does not tell the mode', () => {
    expect(remainText('pg-2', of(pool('read', ['pg-2'], undefined, [1])))).toBe(
      '1 session leaves it by on_leave.operator',
    );
  });

  test('none', () => {
    expect(remainText('pg-2', of(pool('read', ['pg-2'], 'move')))).toBe('it has no sessions');
  });
});

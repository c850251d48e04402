import { describe, expect, test } from 'vitest';
import type { PoolStatusDocument } from '../../../../src/documents/status-document.ts';
import type { PlanOfPrimary } from '../../../../src/documents/switchover-document.ts';
import {
  drainConsequences,
  resumeConsequences,
  switchoverConsequences,
} from '../../../../src/page/operate/consequences.ts';
import { STATUS_FIELDS } from '../../../support/values/status-basics.ts';

const STAYS = (name: string) =>
  `${name} stays out until it is resumed or this Pointsman restarts. Every other Pointsman still uses it.`;

const SESSIONS = {
  by_state: { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 },
  by_fallback: 0,
  accepted: 0,
  closed: 0,
  to_backend_bytes: 0,
  to_client_bytes: 0,
};

function pool(
  name: string,
  members: readonly string[],
  by_member: Readonly<Record<string, number>>,
): PoolStatusDocument {
  return {
    name,
    check: '/check',
    exclusive: name === 'write',
    why: '',
    route_since: STATUS_FIELDS.time,
    on_drain: 'drain',
    route: {
      kind: 'open',
      members: members.map((member) => ({ name: member, address: '127.0.0.1:5432' })),
      fallback: null,
    },
    sessions: { ...SESSIONS, by_member },
  };
}

const status = (write: number) => ({
  ...STATUS_FIELDS,
  pools: [pool('write', ['pg-1'], { 'pg-1': write }), pool('read', ['pg-2', 'pg-3'], { 'pg-2': 1, 'pg-3': 2 })],
});

const PLAN: PlanOfPrimary = {
  from: 'pg-1',
  to: 'pg-2',
  candidates: [],
  transaction_timeout_ms: 10_000,
  fleet: null,
  longest_hold_ms: 28_000,
  problems: [],
  warnings: [],
  sessions_on_primary: 12,
  unreadable_sessions_on_primary: 0,
  moves: null,
  stays_text: null,
};

describe('a drain', () => {
  const NO_SWITCHOVER = 'A drain makes no other member the primary. Switch over does.';

  test('of the primary without a session says that new clients will wait', () => {
    expect(drainConsequences('pg-1', status(0))).toEqual([
      'pg-1 is the primary: new clients will wait in pool write, each for 30 s at most.',
      NO_SWITCHOVER,
      STAYS('pg-1'),
    ]);
  });

  test.each([
    [1, '1 client', '1 session ends'],
    [12, '12 clients', '12 sessions end'],
  ])('of the primary with %i sessions says that they end, and that clients will wait', (sessions, clients, end) => {
    expect(drainConsequences('pg-1', status(sessions)).slice(0, 2)).toEqual([
      `pg-1 is the primary: ${clients} will wait in pool write, each for 30 s at most.`,
      `Pool write: ${end} between two transactions.`,
    ]);
  });

  test.each([
    [1, '1 client'],
    [12, '12 clients'],
  ])('of the primary with %i sessions that move says when they end', (sessions, clients) => {
    const [first, second, third] = drainConsequences('pg-1', {
      ...status(0),
      limits: { ...STATUS_FIELDS.limits, park_seconds: 20 },
      pools: [{ ...pool('write', ['pg-1'], { 'pg-1': sessions }), on_drain: 'move' }],
    });
    expect([first, second, third]).toEqual([
      `pg-1 is the primary: ${clients} will wait in pool write, each for 30 s at most.`,
      'Sessions that can move are parked for 20 s at most. Then they end, unless pg-1 is resumed or another member ' +
        'is the primary by then. The others end between two transactions.',
      NO_SWITCHOVER,
    ]);
  });

  test.each([
    ['close', '2 sessions end at once.'],
    ['drain', '2 sessions end between two transactions.'],
    ['drain_idle', '2 sessions end between two transactions.'],
    ['keep', '2 sessions stay on it.'],
    ['move', '2 sessions move to another member. Sessions that cannot move end between two transactions.'],
  ] as const)('of a replica with on_leave.operator: %s', (mode, text) => {
    const read = { ...pool('read', ['pg-2', 'pg-3'], { 'pg-3': 2 }), on_drain: mode };
    expect(drainConsequences('pg-3', { ...status(0), pools: [read] })).toEqual([
      `Pool read: ${text} New sessions go to pg-2.`,
      STAYS('pg-3'),
    ]);
  });

  test.each([
    ['drain', 'Pool read: 1 session ends between two transactions. No other member serves it now.'],
    [
      'move',
      'Pool read: 1 session is parked until another member serves the pool, for 20 s at most. ' +
        'No other member serves it now.',
    ],
  ] as const)('of the last member of a pool with on_leave.operator: %s says that there is no other', (mode, text) => {
    const alone = {
      limits: { ...STATUS_FIELDS.limits, park_seconds: 20 },
      pools: [{ ...pool('read', ['pg-2'], { 'pg-2': 1 }), on_drain: mode }],
    };
    expect(drainConsequences('pg-2', alone)[0]).toBe(text);
  });

  test('of a member that serves nothing says so', () => {
    expect(drainConsequences('pg-4', status(0))[0]).toBe('pg-4 serves no pool now. It will stay out of all pools.');
  });
});

test('a resume names the pools', () => {
  expect(resumeConsequences('pg-2', status(0))).toEqual([
    'pg-2 takes sessions again, in each of the pools write, read where it is eligible.',
  ]);
});

describe('a switchover', () => {
  test('says how many clients wait, how long, and for which member', () => {
    expect(switchoverConsequences(PLAN, status(12))).toEqual([
      'pg-1 is the primary: 12 clients will wait.',
      'Sessions on it end between two transactions, or after 10 s.',
      'New clients of pool write wait for 28 s at most.',
      'pg-2 becomes the primary.',
    ]);
  });

  test('with moves, says how many sessions move, how many stay, and why', () => {
    const moves = { movable: 9, stays: { listening: 2, advisory_locks: 1 }, unknown: 0 } as const;
    const plan = { ...PLAN, moves, stays_text: '2 listen, 1 holds an advisory lock' };
    expect(switchoverConsequences(plan, status(12))).toEqual([
      'Of 12 sessions on pg-1, 9 move: their clients keep their connections and notice a pause.',
      '3 stay: 2 listen, 1 holds an advisory lock. They end between two transactions, or after 10 s.',
      'New clients of pool write wait for 28 s at most.',
      'pg-2 becomes the primary.',
    ]);
  });

  test.each([
    [
      { movable: 12, stays: {}, unknown: 0 },
      ['Of 12 sessions on pg-1, all move: their clients keep their connections and notice a pause.'],
    ],
    [
      { movable: 0, stays: { authentication: 11 }, unknown: 1 },
      [
        'Of 12 sessions on pg-1, none moves for certain.',
        '11 stay: 11 have logins that cannot be repeated. They end between two transactions, or after 10 s.',
        '1 session could not be asked yet: it is asked when it is idle.',
      ],
    ],
  ] as const)('with moves %j', (moves, first) => {
    const plan = { ...PLAN, moves, stays_text: '11 have logins that cannot be repeated' };
    expect(switchoverConsequences(plan, status(12)).slice(0, -2)).toEqual(first);
  });

  test('with moves, and few sessions', () => {
    const moves = { movable: 1, stays: { listening: 1 }, unknown: 0 };
    const plan = { ...PLAN, moves, stays_text: '1 listens', sessions_on_primary: 2 };
    expect(switchoverConsequences(plan, status(2)).slice(0, -2)).toEqual([
      'Of 2 sessions on pg-1, 1 moves: its client keeps its connection and notices a pause.',
      '1 stays: 1 listens. It ends between two transactions, or after 10 s.',
    ]);
  });

  test('with moves, and without a session', () => {
    const moves = { movable: 0, stays: {}, unknown: 0 };
    const [first] = switchoverConsequences({ ...PLAN, moves, sessions_on_primary: 0 }, status(0));
    expect(first).toBe('pg-1 is the primary: new clients will wait.');
  });

  test('names the sessions that will be cut, and the choice of the cluster', () => {
    const plan = { ...PLAN, to: null, unreadable_sessions_on_primary: 1 };
    const sentences = switchoverConsequences(plan, status(12));
    expect(sentences).toContain('1 session cannot be read (TLS with the server) and will be cut after 10 s.');
    expect(sentences.at(-1)).toBe('The cluster chooses the next primary.');
  });
});

describe('a switchover of the fleet', () => {
  const fleet = { ahead_ms: 23_000, hold_before_ms: 1_000 };

  test.each([
    [null, 'Here, of 12 sessions on pg-1, all end when it stops.'],
    [
      { movable: 11, stays: {}, unknown: 1 },
      'Here, of 12 sessions on pg-1, 11 move: their clients keep their connections and notice a pause. ' +
        'The rest end when it stops.',
    ],
  ])('says what it does here, and what it does not know: moves %j', (moves, here) => {
    expect(switchoverConsequences({ ...PLAN, fleet, moves }, status(12))).toEqual([
      'The cluster schedules it, 23 s ahead. Each Pointsman reads the schedule.',
      'From 1 s before that time new clients of pool write wait.',
      here,
      'How many sessions every other Pointsman has is not known here.',
      'pg-2 becomes the primary.',
    ]);
  });
});

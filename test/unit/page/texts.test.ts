// The words of the page: durations and sizes, a member's place in a pool, tracks, limits, and all that needs attention.
import { describe, expect, test } from 'vitest';
import type { StandingDocument } from '../../../src/documents/member-document.ts';
import { branchesInOrder, branchesText } from '../../../src/page/view/branch-words.ts';
import { causalReadsOf, waitText } from '../../../src/page/view/late-reads.ts';
import { announcement, isHeldAsPlanned, secondsAfter, titleOf } from '../../../src/page/view/headline.ts';
import { fillOf, limitsOf } from '../../../src/page/view/limits.ts';
import { routesOf } from '../../../src/page/view/routes.ts';
import { evidenceOf, placeIn, signOf } from '../../../src/page/view/standing.ts';
import { shortNames } from '../../../src/page/view/short-names.ts';
import {
  ageText,
  dateText,
  durationText,
  lagText,
  numberText,
  shortened,
  sizeText,
} from '../../../src/page/view/words.ts';
import { BRANCHES as BRANCH_LIST } from '../../support/values/console.ts';
import { memberOf, openOn, poolOf, statusOf } from '../../support/page/status.ts';

const SESSIONS = {
  by_state: { startup: 1, holding: 0, dialing: 0, relaying: 6, closing: 0 },
  by_member: { 'pg-1': 6 },
  by_fallback: 0,
  accepted: 7,
  closed: 0,
  to_backend_bytes: 0,
  to_client_bytes: 0,
};

function standing(own: Partial<StandingDocument>): StandingDocument {
  return { place: { sign: 'idle', word: '' }, standing: 'leave', why: '', weight: 1, zone: null, far: false, ...own };
}

test.each([
  [0.04, '0.0 s'],
  [0.29, '0.2 s'],
  [9.99, '9.9 s'],
  [41.7, '41 s'],
  [60, '1 min'],
  [185, '3 min 5 s'],
  [15_120, '4 h 12 min'],
  [273_600, '3 d 4 h'],
])('%f seconds: %s', (seconds, text) => {
  expect(ageText(seconds)).toBe(text);
});

const RESULTS = { free: 0, at_once: 0, waited: 0, moved: 0, error: 0, stale: 0, cancelled: 0 };
const MINUTE = { results: RESULTS, late: 0, late_on: {}, mean_wait_seconds: null, longest_wait_seconds: 0 };

test('causal reads: those that wait, and the last minute', () => {
  const busy = {
    ...MINUTE,
    results: { ...RESULTS, waited: 860, moved: 300, error: 40 },
    late: 340,
    late_on: { 'pg-3': 339, 'pg-2': 1 },
    mean_wait_seconds: 0.0042,
    longest_wait_seconds: 0.5,
  };
  const reads = (waiting: number, minute: typeof busy | typeof MINUTE, scope: 'cluster' | 'proxy' = 'cluster') => ({
    causal_reads: { scope, waiting, results: RESULTS, last_minute: minute },
  });
  const free = { ...MINUTE, results: { ...RESULTS, free: 1 } };
  expect(
    causalReadsOf([
      poolOf('write'),
      poolOf('read', reads(3, busy)),
      poolOf('a', reads(0, MINUTE)),
      poolOf('b', reads(0, free, 'proxy')),
    ]),
  ).toEqual([
    {
      pool: 'read',
      scope: '',
      waiting: 3,
      late: 340,
      lateOn: 'late on pg-3, pg-2',
      minute:
        '1\u202f200 reads in the last minute: they waited 4.2 ms on average, 500 ms at most. ' +
        'Late: 300 moved, 40 refused.',
    },
    { pool: 'a', scope: '', waiting: 0, late: 0, lateOn: '', minute: 'No read in the last minute.' },
    {
      pool: 'b',
      scope: 'writes through this Pointsman',
      waiting: 0,
      late: 0,
      lateOn: '',
      minute: '1 read in the last minute: none had to wait.',
    },
  ]);
  expect([0.00034, 0.0042, 0.31, 1.25].map(waitText)).toEqual(['0.34 ms', '4.2 ms', '310 ms', '1.3 s']);
});

test('a long name keeps its beginning and its end', () => {
  expect(shortened('pg-1', 24)).toBe('pg-1');
  expect(shortened('postgresql-main-4.eu-central-1a', 24)).toBe('postgres…4.eu-central-1a');
});

test('sizes and numbers', () => {
  expect([0, 1023, 16 * 1024 ** 2, 1.5 * 1024 ** 3].map(sizeText)).toEqual(['0 B', '1023 B', '16 MB', '1.5 GB']);
  expect([null, 0.9, 5.14].map((staleness) => lagText(680, staleness))).toEqual(['680 B', '680 B', '680 B, 5.1 s']);
  expect([7, 999, 5000, 1234567].map(numberText)).toEqual(['7', '999', '5\u202f000', '1\u202f234\u202f567']);
});

test('dates and lengths', () => {
  expect(dateText('2026-11-22T14:00:00.123Z')).toBe('2026-11-22 14:00:00');
  expect([180, 3900, 125_000].map(durationText)).toEqual(['180 ms', '3.9 s', '2.1 min']);
});

describe('the place of a member', () => {
  const silent = memberOf('pg-1', ['read'], { failing: { for_seconds: 3, outcome: 'timeout' } });

  test('as the document says it; a member that the pool does not know is not in it', () => {
    expect(placeIn(poolOf('read'), silent)).toEqual({ sign: 'idle', word: 'is a replica' });
    expect(placeIn(poolOf('write'), silent)).toEqual({ sign: 'idle', word: 'not in it' });
  });

  test('a member that does not answer is bad, unless a pool still routes to it', () => {
    const place = { sign: 'routed', word: 'routed' } as const;
    const routed = memberOf('pg-1', [], { ...silent, pools: { read: standing({ place }) } });
    expect(signOf([poolOf('read')], silent)).toBe('bad');
    expect(signOf([poolOf('read')], routed)).toBe('warning');
  });

  test('drained is a warning', () => {
    expect(signOf([poolOf('read')], memberOf('pg-1', ['read'], { drained: { for_seconds: 1 } }))).toBe('warning');
  });

  test('evidence: the answer that the pool in use was decided by', () => {
    const pools = [poolOf('write'), poolOf('read', { route: openOn('pg-1') })];
    const member = memberOf('pg-1', [], {
      pools: {
        write: standing({ answered: { status: 503, check: '/primary' } }),
        read: standing({ answered: { status: 200, check: '/replica?lag=16MB' } }),
      },
    });
    expect(evidenceOf(pools, member)).toBe('200 /replica?lag=16MB');
    expect(evidenceOf(pools, memberOf('pg-2', ['write', 'read']))).toBe('no answer yet');
  });
});

describe('tracks', () => {
  test('solid where sessions are routed, dashed where they leave, dotted where they could be', () => {
    const pools = [poolOf('read', { route: openOn('pg-2'), sessions: SESSIONS })];
    const members = ['pg-1', 'pg-2', 'pg-3'].map((name) => memberOf(name, ['read']));
    const { tracks, members: nodes } = routesOf(statusOf({ pools, members }));
    expect(tracks.map(({ member, kind }) => [member, kind])).toEqual([
      ['pg-1', 'dashed'],
      ['pg-2', 'solid'],
      ['pg-3', 'dotted'],
    ]);
    expect(nodes.map(({ sessions, leaving }) => [sessions, leaving])).toEqual([
      [6, 6],
      [0, 0],
      [0, 0],
    ]);
  });

  test('many members: those to another role are left out', () => {
    const pools = [poolOf('write', { exclusive: true, route: openOn('pg-0') })];
    const members = Array.from({ length: 13 }, (_, index) => memberOf(`pg-${index}`, ['write']));
    expect(routesOf(statusOf({ pools, members })).tracks.map(({ member }) => member)).toEqual(['pg-0']);
  });

  test('marks each member that serves writes, also while another pool for writes has no route', () => {
    const members = [memberOf('pg-1', ['write']), memberOf('pg-2', ['write'])];
    const pools = [poolOf('write', { exclusive: true, route: openOn('pg-1') }), poolOf('orders', { exclusive: true })];
    const { members: nodes } = routesOf(statusOf({ pools, members }));
    expect(nodes.map(({ isPrimary }) => isPrimary)).toEqual([true, false]);
  });
});

test('the reasons of a member have its latency in a pool that balances by it', () => {
  const summary = 'replies in 400 ms; new sessions at 1.3 % of its weight';
  const latency = { 'pg-2': { request_seconds: 0.4, login_seconds: null, share: 0.013, last_seconds: 0, summary } };
  const pools = [poolOf('write'), poolOf('read', { sessions: { ...SESSIONS, latency } })];
  const members = ['pg-1', 'pg-2'].map((name) => memberOf(name, ['write', 'read']));
  expect(routesOf(statusOf({ pools, members })).members.map(({ reasons }) => reasons)).toEqual([
    [
      ['write', 'is a replica'],
      ['read', 'is a replica'],
    ],
    [
      ['write', 'is a replica'],
      ['read', `is a replica; ${summary}`],
    ],
  ]);
});

describe('the state of the cluster', () => {
  const write = poolOf('write', { exclusive: true, route: openOn('pg-2') });
  const held = poolOf('write', {
    exclusive: true,
    route: { kind: 'hold', cause: 'no_member' },
    why: 'no eligible member, clients wait',
  });

  test('an operator holds the clients of the primary, and not those of another pool', () => {
    const planned = { route: { kind: 'hold', cause: 'switchover', planned: true } } as const;
    expect(isHeldAsPlanned(statusOf({ pools: [poolOf('write', { exclusive: true, ...planned })] }))).toBe(true);
    expect(isHeldAsPlanned(statusOf({ pools: [held, poolOf('read', planned)] }))).toBe(false);
  });

  test('for a screen reader: a sentence without moving numbers', () => {
    const healthy = statusOf({ pools: [write] });
    const primary = { member: 'pg-2', since: healthy.time, timeline: 1 };
    const cluster = { ...healthy.cluster, primary };
    expect(announcement({ ...healthy, cluster })).toBe('pg-2 is the primary.');
    expect(titleOf({ ...healthy, cluster }, false)).toBe('pg-2 · lab · Pointsman');
    expect(titleOf({ ...healthy, cluster }, true)).toBe('no connection · lab · Pointsman');
    expect(titleOf(healthy, false)).toBe('no primary · lab · Pointsman');
    expect(announcement(statusOf({ pools: [held] }))).toBe(
      'No member is primary. Pool write: no eligible member, clients wait.',
    );
  });

  test('an age is never negative', () => {
    expect(secondsAfter('2026-01-01T00:00:00.000Z', '2026-01-01T00:01:30.500Z')).toBe(90.5);
    expect(secondsAfter('2026-01-01T00:00:01.000Z', '2026-01-01T00:00:00.000Z')).toBe(0);
  });
});

const BRANCHES = { source: 'console', read_at: null, age_seconds: 4, branches: 12, failing: null } as const;

test('branches: the state of the list, and the sessions', () => {
  const sessions = { ...SESSIONS, by_state: { ...SESSIONS.by_state, relaying: 3, dialing: 1 }, by_member: {} };
  expect(branchesText({ ...BRANCHES, sessions })).toBe('12 branches, 3 sessions, 1 client waits');
  expect(branchesText({ ...BRANCHES, branches: 1, sessions: null })).toBe('1 branch, 0 sessions');
});

test('branches in the order of their use: sessions, then those that can be reached, then the others', () => {
  const [root, branch] = BRANCH_LIST.branches;
  if (root === undefined || branch === undefined) throw new Error('there are two branches');
  const named = (name: string, sessions: number, backend = branch.backend) => ({ ...branch, name, sessions, backend });
  const branches = [root, named('b', 0), named('c', 1), named('a', 0), named('d', 5)];
  expect(branchesInOrder(branches).map(({ name }) => name)).toEqual(['d', 'c', 'a', 'b', 'main']);
});

test('sessions on branches count for the limit, and their clients that wait do not take places of the others', () => {
  const sessions = { ...SESSIONS, by_state: { ...SESSIONS.by_state, holding: 2 } };
  const shown = limitsOf(statusOf({ pools: [], branches: { ...BRANCHES, sessions } }));
  expect(shown.map(({ name, value }) => [name, value])).toEqual([
    ['sessions', 9],
    ['waiting', 0],
  ]);
});

test('limits: the value of each, and when it is near', () => {
  const status = statusOf({ pools: [poolOf('read', { sessions: SESSIONS })] });
  const limits = { ...status.limits, max_sessions: 8, max_handshakes: 1 };
  const shown = limitsOf({ ...status, limits }).map((limit) => [limit.name, limit.value, limit.most, fillOf(limit)]);
  expect(shown).toEqual([
    ['sessions', 7, 8, 'warning'],
    ['waiting', 0, 1000, 'normal'],
    ['handshakes', 1, 1, 'bad'],
  ]);
});

test.each([
  [['pg-1', 'pg-2'], 10, ['pg-1', 'pg-2']],
  [['orders-db-eu-1', 'orders-db-eu-2'], 10, ['orders-d…1', 'orders-d…2']],
  [['orders-db-eu-1.svc', 'orders-db-us-1.svc'], 12, ['orders-d…eu…', 'orders-d…us…']],
  [['a-1.orders.svc.cluster.local', 'a-2.orders.svc.cluster.local'], 12, ['a-1…', 'a-2…']],
  [['orders-eu-database-01', 'orders-us-database-02'], 10, ['eu-…ase-01', 'us-…ase-02']],
  [['pg-1', 'orders-database-01', 'orders-database-02'], 10, ['pg-1', 'orders-…01', 'orders-…02']],
  [['orders-database-primary'], 10, ['ord…rimary']],
  [['orders-database', 'orders-database-2'], 10, ['o…database', 'database-2']],
])('%j in %i characters', (names, most, short) => {
  const texts = names.map(shortNames(names, most));
  expect(texts).toEqual(short);
  expect(texts.filter(({ length }) => length > most)).toEqual([]);
});

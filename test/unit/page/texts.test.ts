// The words of the page: durations and sizes, a member's place in a pool, tracks, limits, and all that needs attention.
import { describe, expect, test } from 'vitest';
import type { StandingDocument } from '../../../src/admin/schema/status.ts';
import { branchesInOrder, branchesText } from '../../../src/page/view/branches.ts';
import { announcement, noticesOf, secondsAfter, titleOf } from '../../../src/page/view/headline.ts';
import { fillOf, limitsOf } from '../../../src/page/view/limits.ts';
import { routesOf } from '../../../src/page/view/routes.ts';
import { evidenceOf, placeIn, roleOf, signOf } from '../../../src/page/view/standing.ts';
import { ageText, numberText, shortened, sizeText } from '../../../src/page/view/words.ts';
import { BRANCHES as BRANCH_LIST } from '../../support/values/console.ts';
import { memberOf, poolOf, statusOf } from '../../support/page/status.ts';

const SESSIONS = {
  by_state: { startup: 1, holding: 0, dialing: 0, relaying: 6, closing: 0 },
  by_member: { 'pg-1': 6 },
  by_fallback: 0,
  accepted: 7,
  closed: 0,
  to_backend_bytes: 0,
  to_client_bytes: 0,
};

const openOn = (...names: readonly string[]) => ({
  kind: 'open' as const,
  members: names.map((name) => ({ name, address: '127.0.0.1:5432' })),
  fallback: null,
});

function standing(own: Partial<StandingDocument>): StandingDocument {
  return { standing: 'leave', why: '', weight: 1, zone: null, far: false, ...own };
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

test('a long name keeps its beginning and its end', () => {
  expect(shortened('pg-1', 24)).toBe('pg-1');
  expect(shortened('postgresql-main-4.eu-central-1a', 24)).toBe('postgres…4.eu-central-1a');
});

test('sizes and numbers', () => {
  expect([0, 1023, 16 * 1024 ** 2, 1.5 * 1024 ** 3].map(sizeText)).toEqual(['0 B', '1023 B', '16 MB', '1.5 GB']);
  expect([7, 999, 5000, 1234567].map(numberText)).toEqual(['7', '999', '5\u202f000', '1\u202f234\u202f567']);
});

function place(own: Partial<StandingDocument>, more = {}) {
  return placeIn(poolOf('read'), memberOf('pg-1', [], { pools: { read: standing(own) }, ...more }));
}

describe('the place of a member', () => {
  test('a former primary is demoted until it has become a replica', () => {
    expect(place({ cause: 'demoted' }, { role: 'demoted' })).toEqual({ sign: 'warning', word: 'demoted' });
    expect(place({ cause: 'demoted' }, { role: 'replica' })).toEqual({ sign: 'idle', word: 'is a replica' });
  });

  test('by the route, then by standing and cause', () => {
    const member = memberOf('pg-1', ['read']);
    expect(placeIn(poolOf('read', { route: openOn('pg-1') }), member)).toEqual({ sign: 'routed', word: 'routed' });
    const lent = { ...openOn('pg-1'), fallback: { pool: 'write', max_sessions: 100 } };
    expect(placeIn(poolOf('read', { route: lent }), member).word).toBe('used as fallback');
    expect(place({ standing: 'keep' })).toEqual({ sign: 'warning', word: 'no new sessions' });
    expect(place({ standing: 'open' })).toEqual({ sign: 'idle', word: 'eligible' });
    expect(place({ cause: 'lagging' })).toEqual({ sign: 'warning', word: 'lag too high' });
    expect(place({ cause: 'not_synchronous' })).toEqual({ sign: 'idle', word: 'not synchronous' });
    expect(place({ cause: 'old_timeline' })).toEqual({ sign: 'warning', word: 'old timeline' });
    expect(place({ cause: 'dead' })).toEqual({ sign: 'bad', word: 'down' });
    expect(place({ cause: 'not_primary' })).toEqual({ sign: 'idle', word: 'is a replica' });
    expect(place({ cause: 'not_primary' }, { role: 'sync_standby' }).word).toBe('is a sync standby');
    expect(place({ cause: 'a_new_cause' })).toEqual({ sign: 'idle', word: 'a new cause' });
  });

  test('a member that does not answer is bad, unless a pool still routes to it', () => {
    const silent = memberOf('pg-1', ['read'], { failing: { for_seconds: 3, outcome: 'timeout' } });
    expect(placeIn(poolOf('read'), silent)).toEqual({ sign: 'bad', word: 'no answer' });
    expect(signOf([poolOf('read')], silent)).toBe('bad');
    expect(signOf([poolOf('read', { route: openOn('pg-1') })], silent)).toBe('warning');
  });

  test('drained is a warning', () => {
    expect(signOf([poolOf('read')], memberOf('pg-1', ['read'], { drained: { for_seconds: 1 } }))).toBe('warning');
  });

  test('evidence: the answer that the pool in use was decided by', () => {
    const pools = [poolOf('write'), poolOf('read', { route: openOn('pg-1') })];
    const member = memberOf('pg-1', [], {
      pools: {
        write: standing({ why: 'is a replica; answered 503 to /primary 80 ms ago' }),
        read: standing({ why: 'answered 200 to /replica?lag=16MB 80 ms ago; estimated lag 0 B (limit 16 MB)' }),
      },
    });
    expect(evidenceOf(pools, member)).toBe('200 /replica?lag=16MB');
    expect(evidenceOf(pools, memberOf('pg-2', ['write', 'read']))).toBe('no answer yet');
  });
});

test('the role of a member that does not answer is its last one', () => {
  const failing = { for_seconds: 3, outcome: 'refused' };
  const write = poolOf('write', { exclusive: true, route: openOn('pg-1') });
  const primary = memberOf('pg-1', ['write'], { role: 'primary' });
  expect(roleOf([write], primary)).toBe('primary');
  expect(roleOf([write], { ...primary, failing })).toBe('primary');
  expect(roleOf([poolOf('write')], { ...primary, failing })).toBe('was primary');
  expect(roleOf([write], { ...primary, role: null })).toBeUndefined();
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
});

describe('the state of the cluster', () => {
  const write = poolOf('write', { exclusive: true, route: openOn('pg-2') });
  const held = poolOf('write', {
    exclusive: true,
    route: { kind: 'hold', cause: 'no_member' },
    why: 'no eligible member, clients wait',
  });

  test('for a screen reader: a sentence without moving numbers', () => {
    const healthy = statusOf({ pools: [write] });
    const primary = { member: 'pg-2', since: healthy.time, timeline: 1 };
    const cluster = { ...healthy.cluster, primary };
    expect(announcement({ ...healthy, cluster })).toBe('pg-2 is the primary.');
    expect(titleOf({ ...healthy, cluster })).toBe('pg-2 · lab · Pointsman');
    expect(titleOf(healthy)).toBe('no primary · lab · Pointsman');
    expect(announcement(statusOf({ pools: [held] }))).toBe(
      'No member is primary. Pool write: no eligible member, clients wait.',
    );
  });

  test('an age is never negative', () => {
    expect(secondsAfter('2026-01-01T00:00:00.000Z', '2026-01-01T00:01:30.500Z')).toBe(90.5);
    expect(secondsAfter('2026-01-01T00:00:01.000Z', '2026-01-01T00:00:00.000Z')).toBe(0);
  });

  test('notices: none in health; else one sentence each', () => {
    expect(noticesOf(statusOf({ pools: [write], members: [memberOf('pg-2', ['write'])] }))).toEqual([]);
    const member = memberOf('pg-2', ['write'], { paused: true, pending_restart: true });
    expect(noticesOf(statusOf({ pools: [held], members: [member] }))).toEqual([
      { level: 'danger', text: 'Pool write: no eligible member, clients wait.' },
      { level: 'warning', text: 'A restart is pending: pg-2.' },
      { level: 'warning', text: 'The cluster is paused: it makes no failover by itself.' },
    ]);
    const silent = Array.from({ length: 7 }, (_, index) =>
      memberOf(`pg-${index}`, [], { failing: { for_seconds: 1, outcome: 'timeout' } }),
    );
    expect(noticesOf(statusOf({ members: silent })).map(({ text }) => text)).toEqual([
      'No answer: pg-0, pg-1, pg-2, pg-3, pg-4 and 2 more.',
    ]);
  });
});

const BRANCHES = { source: 'console', read_at: null, age_seconds: 4, branches: 12, failing: null } as const;

test('branches: the state of the list, the sessions, and an outage of the list as a notice', () => {
  const sessions = { ...SESSIONS, by_state: { ...SESSIONS.by_state, relaying: 3, dialing: 1 }, by_member: {} };
  expect(branchesText({ ...BRANCHES, sessions })).toBe('12 branches, 3 sessions, 1 client waits');
  expect(branchesText({ ...BRANCHES, branches: 1, sessions: null })).toBe('1 branch, 0 sessions');
  const failing = { failure: 'timeout', why: 'no answer within 5 s', for_seconds: 9 } as const;
  const notices = (age: number | null) =>
    noticesOf(statusOf({ branches: { ...BRANCHES, age_seconds: age, failing, sessions } })).map(({ text }) => text);
  const why = 'The list of branches cannot be read: no answer within 5 s.';
  expect(notices(4)).toContain(`${why} The last list stays in use.`);
  expect(notices(null)).toContain(`${why} Clients that ask for a branch are refused.`);
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

// The closed lists and the sentences for clients, operators and metrics.
import { describe, expect, test } from 'vitest';
import { CLOSE_REASONS, evictionReason, LEAVE_CAUSES } from '../../../src/model/close-reason.ts';
import type { CloseReason } from '../../../src/model/close-reason.ts';
import {
  countText,
  describeLatency,
  describeMembers,
  describeRefusal,
  describeRoute,
  describeStanding,
  durationText,
  exclusionCause,
  refusalEnds,
} from '../../../src/core/describe.ts';
import { placeWord } from '../../../src/core/place-words.ts';
import { REFUSAL_REASONS } from '../../../src/model/member.ts';
import {
  aList,
  aPolicy,
  aTable,
  isPrimary,
  isReplica,
  poolOf,
  refused,
  silent,
} from '../../support/values/builders.ts';
import { leave, type Standing } from '../../../src/core/standing.ts';
import type { Route } from '../../../src/core/routing-table.ts';
import type { Evidence } from '../../../src/core/why.ts';
import { aDecision } from '../../support/values/tables.ts';

const place = (member: string) => ({ member, address: { host: member, port: 5432 } });

describe('SQLSTATEs', () => {
  test.each<[CloseReason, string | undefined]>([
    ['no_route', '57P03'],
    ['hold_timeout', '57P03'],
    ['connect_failed', '08006'],
    ['too_many_sessions', '53300'],
    ['not_postgres', '08P01'],
    ['startup_timeout', '08P01'],
    ['unsupported_protocol', '0A000'],
    ['tls_required', '28000'],
    ['tls_failed', undefined],
    ['unknown_pool', '3D000'],
    ['unknown_branch', '3D000'],
    ['branch_not_allowed', '28000'],
    ['ambiguous_branch', '22023'],
    ['branches_unavailable', '57P03'],
    ['branch_unreachable', '57P03'],
    ['landed_on_standby', '57P03'],
    ['move_login', '57P01'],
    ['move_in_flight', '08007'],
    ['too_old', '57P01'],
    ['killed_by_operator', '57P01'],
    ['shutdown', '57P01'],
    ['internal_error', 'XX000'],
    ['evicted_demoted', '57P01'],
    ['client_closed', undefined],
    ['client_reset', undefined],
    ['client_tcp_timeout', undefined],
    ['client_gave_up', undefined],
    ['backend_closed', undefined],
    ['backend_reset', undefined],
    ['backend_tcp_timeout', undefined],
    ['no_startup', undefined],
    ['cancel_forwarded', undefined],
    ['cancel_failed', undefined],
    ['cancel_offered', undefined],
  ])('%s: %s', (reason, sqlState) => {
    expect(CLOSE_REASONS[reason].sqlState).toBe(sqlState);
  });

  test('every code is one that PostgreSQL could send', () => {
    for (const { sqlState } of Object.values(CLOSE_REASONS)) expect(sqlState ?? '00000').toMatch(/^[0-9A-Z]{5}$/);
  });

  test('every cause of an eviction has a reason of its own, with 57P01', () => {
    for (const cause of LEAVE_CAUSES) {
      expect(CLOSE_REASONS[evictionReason(cause)]).toMatchObject({ sqlState: '57P01', side: 'pointsman' });
    }
  });

  test('a client that is told nothing gets no code', () => {
    const untold = Object.values(CLOSE_REASONS).filter(({ told }) => told === 'never');
    expect(untold.filter(({ sqlState }) => sqlState !== undefined)).toEqual([]);
  });
});

describe('sentences', () => {
  test.each([
    [{ code: 'positive' } as const, 'passes the check'],
    [{ code: 'no_answer', since: 1000 } as const, 'no answer for 4 s'],
    [{ code: 'no_answer', since: 4600 } as const, 'no answer for 400 ms'],
    [{ code: 'no_answer', since: 9000 } as const, 'no answer for 0 ms'],
    [{ code: 'wrong_role', detail: 'is a replica' } as const, 'is a replica'],
    [
      { code: 'no_answer', since: 1000, detail: 'no answer within 800 ms' } as const,
      'no answer for 4 s: no answer within 800 ms',
    ],
  ])('%j at 5 s reads %j', (why, text) => {
    expect(describeStanding({ kind: 'keep', why }, 5000)).toBe(text);
  });

  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [119_900, '119.9 s'],
    [150_000, '2.5 min'],
    [7_200_000, '2 h'],
    [172_800_000, '2 d'],
  ])('%d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  test.each([
    [0, 'session', undefined, '0 sessions'],
    [1, 'session', undefined, '1 session'],
    [2, 'session', undefined, '2 sessions'],
    [1, 'branch', 'branches', '1 branch'],
    [3, 'branch', 'branches', '3 branches'],
  ])('%d of %s: %s', (count, noun, nouns, text) => {
    expect(countText(count, noun, nouns)).toBe(text);
  });

  const two = [place('pg-2'), place('pg-3')] as const;
  test.each<[Route, string]>([
    [{ kind: 'open', targets: two, fallback: undefined }, 'open on pg-2, pg-3'],
    [
      { kind: 'open', targets: two, fallback: { pool: 'write', maxSessions: 5 } },
      'open on pg-2, pg-3, fallback to pool write',
    ],
    [
      { kind: 'open', targets: two, fallback: undefined, lagging: { maxSessions: 5 } },
      'open on pg-2, pg-3, over the lag limit like all members',
    ],
    [{ kind: 'closed' }, 'no eligible member, clients are refused'],
  ])('the route %j', (route, text) => {
    expect(describeRoute(route)).toBe(text);
  });

  test('a primary that is refused, and what ends that', () => {
    const primary = {
      kind: 'timeline',
      member: 'pg-1',
      since: 0,
      shown: 'timeline 5',
      expected: 'timeline 6',
    } as const;
    expect(describeRefusal({ ...primary, missing: [], agreedSince: undefined })).toBe(
      'claims to be primary with timeline 5, but timeline 6 was seen before',
    );
    const missing = ['no answer of pg-2', 'pg-3 is on timeline 6'];
    expect(refusalEnds({ ...primary, missing, agreedSince: undefined }, 5000)).toEqual([
      'agreement of all members for 30 s (missing: no answer of pg-2; pg-3 is on timeline 6)',
      'pointsman accept timeline',
    ]);
    expect([5000, 99_000].map((now) => refusalEnds({ ...primary, missing: [], agreedSince: 2000 }, now)[0])).toEqual([
      'agreement of all members for 27 s more',
      'agreement of all members for 0 ms more',
    ]);
  });

  const evidence: Evidence = {
    check: '/synchronous',
    isExclusive: false,
    isYes: false,
    streak: undefined,
    answer: undefined,
    yesAt: undefined,
    timeline: undefined,
    silentSince: undefined,
    vouch: undefined,
    mismatchAt: undefined,
    lag: undefined,
    staleness: undefined,
    freshMs: 10_000,
    graceMs: 15_000,
  };
  test.each<[Standing, string]>([
    [
      { kind: 'leave', cause: 'silent', why: { code: 'no_answer', since: 1000, evidence } },
      'no answer for 4 s; never passed /synchronous; sessions close after 15 s',
    ],
    [
      { kind: 'keep', why: { code: 'in_recovery', since: 1000, evidence } },
      'promotion not finished: its server reports that it is in recovery for 4 s; ' +
        'one client tries it every 2 s, the others wait',
    ],
    [
      leave('check_failed', { code: 'not_running', detail: 'state stopped', evidence }),
      'PostgreSQL is not running: state stopped',
    ],
  ])('%j with its evidence reads %j', (standing, text) => {
    expect(describeStanding(standing, 5000)).toBe(text);
  });

  test.each<[string, Standing, string | undefined]>([
    ['of a member that stays', { kind: 'keep', why: { code: 'stale' } }, undefined],
    ['of its age', leave('lagging', { code: 'stale' }), 'stale'],
    [
      'of what the check requires',
      leave('check_failed', { code: 'not_holding_the_check', evidence }),
      'not_synchronous',
    ],
    ['without evidence', leave('check_failed', { code: 'not_holding_the_check' }), 'check_failed'],
    ['of another fact', leave('check_failed', { code: 'not_streaming', evidence }), 'check_failed'],
    ['of another cause', leave('demoted', { code: 'not_holding_the_check', evidence }), 'demoted'],
  ])('the exclusion %s', (_, standing, cause) => {
    expect(exclusionCause(standing)).toBe(cause);
  });

  test('the members seen, each with its evidence', () => {
    const table = aTable(
      aPolicy(),
      5100,
      aList(0, 'pg-1', 'pg-2', 'pg-3'),
      isPrimary('pg-1', 0),
      silent({ at: 1100 }),
      isReplica('pg-2', 0),
      refused({ member: 'pg-3', at: 5000 }),
    );
    expect(describeMembers(poolOf(table, 'write'), 5100)).toBe(
      'members: pg-1 (no answer for 4 s: no answer within 800 ms; last passed /primary 5.1 s ago; ' +
        'no new sessions after 5 s; existing ones close after 15 s), ' +
        'pg-2 (is a replica; answered 200 to /replica?lag=16MB 5.1 s ago), ' +
        'pg-3 (API and PostgreSQL refuse connections for 100 ms; considered dead until it answers again)',
    );
  });

  test('a fallback in use and a fallback on standby', () => {
    const why = { code: 'fallback' } as const;
    expect(describeStanding({ kind: 'open', why }, 0)).toBe('used as fallback');
    expect(describeStanding({ kind: 'keep', why }, 0)).toBe(
      'fallback, used only while the pool has no other eligible member',
    );
    const idle = { kind: 'leave', cause: 'fallback_over', why } as const;
    expect(describeStanding(idle, 0)).toBe('fallback, used only while the pool has no other eligible member');
    expect(placeWord(idle)).toBe('fallback only');
  });

  test('no member seen', () => {
    const notUsed = REFUSAL_REASONS.map((reason) => ({ name: reason, reason, why: '10.0.0.7 port 22' }));
    const named = describeMembers({ ...aDecision({}), refused: notUsed }, 0);
    expect(named).toMatch(
      /^members: none; not used: api_port \(API port not allowed by cluster\.allow\.ports\), .* and 4 others$/,
    );
    expect(named.split(' (')).toHaveLength(6);
    const five = notUsed.filter(({ reason }) => reason !== 'contact_point').slice(0, 5);
    expect(describeMembers({ ...aDecision({}), refused: five }, 0)).toBe(named.replace(' and 4 others', ''));
    const keep: Standing = { kind: 'keep', why: { code: 'positive' } };
    expect(placeWord(keep)).toBe('no new sessions');
    // A client before authentication sees no address, and a contact point is no member.
    expect(named).not.toMatch(/10\.0\.0\.7|contact_point/);
    expect(describeMembers(undefined, 0)).toBe('members: none');
    expect(describeMembers(poolOf(aTable(aPolicy(), 0), 'write'), 0)).toBe('members: none');
  });
});

test.each([
  [
    { requestMs: 400, loginMs: 6.12 },
    0.0128,
    0,
    'replies in 400 ms, logins in 6.1 ms; new sessions at 1.3 % of its weight',
  ],
  [{ requestMs: 0.254, loginMs: undefined }, 1, 9_999, 'replies in 0.25 ms; new sessions at its full weight'],
  [{ requestMs: undefined, loginMs: 2_500 }, 0.001, 0, 'logins in 2.5 s; new sessions at 0.1 % of its weight'],
  [{ requestMs: 9.96, loginMs: undefined }, 0.994, 0, 'replies in 10 ms; new sessions at 99 % of its weight'],
  [{ requestMs: 41.4, loginMs: undefined }, 0.996, 0, 'replies in 41 ms; new sessions at its full weight'],
  [
    { requestMs: 400, loginMs: 6 },
    0.92,
    45_000,
    'replies in 400 ms, logins in 6 ms, last measured 45 s ago; new sessions at 92 % of its weight',
  ],
])('latency: %j with share %f, %i ms later', (times, share, later, text) => {
  expect(describeLatency({ ...times, share, at: 1_000 }, 1_000 + later)).toBe(text);
});

test('latency of a member that was never used', () => {
  const never = { requestMs: undefined, loginMs: undefined, at: undefined, share: 1 };
  expect(describeLatency(never, 60_000)).toBe('not measured yet; new sessions at its full weight');
});

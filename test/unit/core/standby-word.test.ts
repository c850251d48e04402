// A server reports in_hot_standby to new sessions while its API reports a primary: which of the two counts.
import { expect, test } from 'vitest';
import type { LandingObservation, Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aPolicy,
  aTable,
  aWritePool,
  answered,
  isPrimary,
  isReplica,
  poolOf,
  refused,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';
import { WRITE_CHECK } from '../../support/values/builders.ts';

const landing = (at: Instant, by: LandingObservation['by'] = 'pooler'): Observation => ({
  kind: 'landing',
  member: 'pg-1',
  by,
  startedAt: at,
});
type Instant = number;

/** Whether sessions with in_hot_standby may pass; undefined: no session is routed there. */
function isLetThrough(now: Instant, ...observations: readonly Observation[]): boolean | undefined {
  const route = routeOf(aTable(aPolicy(), now, aList(0, 'pg-1'), ...observations), 'write');
  return route.kind === 'open' ? route.targets[0].isStandbyReportStale === true : undefined;
}

const PROVEN = [isPrimary('pg-1', 100), landing(200), isPrimary('pg-1', 300)] as const;

test.each<[string, boolean | undefined, readonly Observation[]]>([
  ['no session landed', false, [isPrimary('pg-1', 100)]],
  ['no probe since', false, [isPrimary('pg-1', 100), landing(200)]],
  ['a probe at the same instant', false, [isPrimary('pg-1', 100), landing(200), isPrimary('pg-1', 200)]],
  ['a later probe reports the primary', true, PROVEN],
  [
    'a yes that does not name its role',
    false,
    [isPrimary('pg-1', 100), landing(200), answered({ check: WRITE_CHECK, at: 300, body: { timeline: 1 } })],
  ],
  ['another landing after that', true, [...PROVEN, landing(400)]],
  ['the server itself reports it after that', undefined, [...PROVEN, landing(400, 'standby')]],
  ['its API is silent after that', true, [...PROVEN, silent({ at: 400 })]],
  ['another timeline after that', false, [...PROVEN, isPrimary('pg-1', 400, { timeline: 2 })]],
  ['it was a replica in between', false, [...PROVEN, isReplica('pg-1', 400), isPrimary('pg-1', 500)]],
  ['it refused in between', false, [...PROVEN, refused({ at: 400 }), isPrimary('pg-1', 500)]],
  [
    'it was another cluster’s in between',
    false,
    [...PROVEN, isPrimary('pg-1', 400, { scope: 'other' }), isPrimary('pg-1', 500)],
  ],
  ['a replica', undefined, [...PROVEN, isReplica('pg-1', 400)]],
])('%s: let through %s', (_, expected, observations) => {
  expect(isLetThrough(600, ...observations)).toBe(expected);
});

const RECOVERY = [isPrimary('pg-1', 100), landing(200, 'standby')] as const;
const YES = Array.from({ length: 100 }, (_, index) => isPrimary('pg-1', 300 + 100 * index));

test.each<[string, Instant, string, readonly Observation[]]>([
  ['holds new sessions', 300, 'hold in_recovery', RECOVERY],
  ['holds them although the API says yes again', 2_000, 'hold in_recovery', [...RECOVERY, ...YES.slice(0, 15)]],
  ['has one client try it after two seconds', 2_200, 'open as a trial', [...RECOVERY, ...YES.slice(0, 15)]],
  [
    'holds again after a trial that landed',
    3_000,
    'hold in_recovery',
    [...RECOVERY, ...YES.slice(0, 15), landing(2_300, 'standby'), ...YES.slice(21, 25)],
  ],
  ['is open after one that did not', 2_400, 'open', [...RECOVERY, ...YES.slice(0, 15), landing(2_300, 'primary')]],
  ['has trials as long as one may tell', 10_199, 'open as a trial', [...RECOVERY, ...YES]],
  ['is open to all when none has told anything for ten seconds', 10_200, 'open', [...RECOVERY, ...YES]],
  ['is open at once on the next timeline', 500, 'open', [...RECOVERY, isPrimary('pg-1', 400, { timeline: 2 })]],
  [
    'is open at once when its API had said no in between',
    600,
    'open',
    [...RECOVERY, isReplica('pg-1', 400), isPrimary('pg-1', 500)],
  ],
])('a server itself that reports to be in recovery: the pool %s', (_, now, expected, observations) => {
  const route = routeOf(aTable(aPolicy(), now, aList(0, 'pg-1'), ...observations), 'write');
  const trial = route.kind === 'open' && route.targets[0].isTrial === true ? ' as a trial' : '';
  expect(route.kind === 'hold' ? `hold ${route.cause}` : `${route.kind}${trial}`).toBe(expected);
});

test('its live sessions stay, and clients are told why they wait, however many members there are', () => {
  const table = aTable(aPolicy(), 300, aList(0, 'pg-1', 'pg-2'), isReplica('pg-2', 0), ...RECOVERY);
  expect(standingIn(table, 'write', 'pg-1')).toBe('keep in_recovery');
  expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'in_recovery' });
});

test('recovery counts from the first word of the server itself, not from that of a pooler before it', () => {
  const table = aTable(aPolicy(), 450, aList(0, 'pg-1'), ...PROVEN, landing(400, 'standby'));
  expect(poolOf(table, 'write').standings.get('pg-1')?.why).toMatchObject({ code: 'in_recovery', since: 400 });
});

test('a pool of the leader, which may be a standby, has no trials', () => {
  const policy = aPolicy({ pools: [aWritePool(), aWritePool({ name: 'leader', check: '/leader' })] });
  const leads = [100, 2_150].map((at) =>
    answered({ check: '/leader', at, body: { role: 'primary', state: 'running' } }),
  );
  const seen = [...leads.slice(0, 1), ...RECOVERY, ...YES.slice(0, 19), ...leads.slice(1)];
  const table = aTable(policy, 2_200, aList(0, 'pg-1'), ...seen);
  expect(routeOf(table, 'write')).toMatchObject({ targets: [{ isTrial: true }] });
  expect(routeOf(table, 'leader')).toMatchObject({ kind: 'open', targets: [{ member: 'pg-1' }] });
  expect(routeOf(table, 'leader')).not.toMatchObject({ targets: [{ isTrial: true }] });
});

test.each<[string, Instant, readonly Observation[], string, string]>([
  ['wait for the result of the trial', 2_200, [], 'hold in_recovery', 'keep exclusive_elsewhere'],
  ['go on after one that found a primary', 2_400, [landing(2_300, 'primary')], 'open', 'open fallback'],
  [
    'wait after one that found a standby',
    2_400,
    [landing(2_300, 'standby')],
    'hold in_recovery',
    'keep exclusive_elsewhere',
  ],
  ['go on when none has told anything for ten seconds', 10_200, YES.slice(15), 'open', 'open fallback'],
])('G6: reads that fall back to the primary %s', (_, now, news, expected, standing) => {
  const gone = refused({ member: 'pg-2', at: now - 100 });
  const observations = [
    aList(0, 'pg-1', 'pg-2'),
    isReplica('pg-2', 0),
    ...RECOVERY,
    ...YES.slice(0, 15),
    ...news,
    gone,
  ];
  const table = aTable(aPolicy(), now, ...observations);
  const route = routeOf(table, 'read');
  expect(route.kind === 'hold' ? `hold ${route.cause}` : route.kind).toBe(expected);
  expect(standingIn(table, 'read', 'pg-1')).toBe(standing);
});

test('a primary that is tried serves no reads for a replica that has vanished', () => {
  const holes = [1_600, 1_800, 2_000].map((at) => silent({ member: 'pg-2', at }));
  const replica = [aList(0, 'pg-1', 'pg-2'), isReplica('pg-2', 0)];
  const tried = [...replica, ...RECOVERY, ...YES.slice(0, 19), ...holes];
  expect(standingIn(aTable(aPolicy(), 2_200, ...tried), 'read', 'pg-2')).toBe('open positive');
  const found = [...tried, landing(2_300, 'primary')];
  expect(standingIn(aTable(aPolicy(), 2_300, ...found), 'read', 'pg-2')).toBe('leave silent vanished');
});

// Scenarios of the write pool in the core: open members, kept sessions, evictions and their reasons.
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  poolOf,
  READ_CHECK,
  refused,
  routeOf,
  silent,
  standingIn,
  vouched,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'pg-2');
const ROUND = [LIST, isPrimary('pg-1', 0), isReplica('pg-2', 0)] as const;

describe('scenarios 1, 2: cold start', () => {
  test('no session is routed before the first complete round', () => {
    const table = aTable(POLICY, 100, LIST, isPrimary('pg-1', 0));
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'starting' });
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'starting' });
    expect(table.complete).toBe(false);
  });

  test('after it the first client connects to the primary', () => {
    const table = aTable(POLICY, 100, ...ROUND);
    const target = { member: 'pg-1', address: { host: 'pg-1', port: 5432 } };
    expect(routeOf(table, 'write')).toEqual({ kind: 'open', targets: [target], fallback: undefined });
  });

  test('a member without a newer answer says why, as far as anybody knows', () => {
    const unasked = poolOf(aTable(POLICY, 5000, ...ROUND), 'write').standings.get('pg-1')?.why;
    expect(unasked).toMatchObject({ code: 'no_answer', since: 0, detail: undefined });
    const refusal = refused({ at: 1000, postgres: 'accepts' });
    const why = poolOf(aTable(POLICY, 5000, ...ROUND, refusal), 'write').standings.get('pg-1')?.why;
    expect(why).toMatchObject({ code: 'no_answer', since: 1000, detail: 'connection refused' });
  });

  test('all APIs down: the round is complete and clients are held', () => {
    const table = aTable(POLICY, 100, LIST, silent({ member: 'pg-1' }), refused({ member: 'pg-2' }));
    expect(table.complete).toBe(true);
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'no_member' });
  });
});

describe('scenario 3: planned switchover, statuses as captured', () => {
  const stopping = answered({ member: 'pg-1', at: 1000, body: { role: 'primary', state: 'stopping' } });
  const demoted = answered({ at: 2000, status: 503, body: { role: 'demoted', state: 'stopped' } });

  test('during its shutdown the old primary gets no new sessions and keeps its live ones', () => {
    const table = aTable(POLICY, 1100, ...ROUND, stopping);
    expect(openIn(table, 'write')).toEqual([]);
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep not_running');
  });

  test('its 503 closes its sessions synchronously', () => {
    const table = aTable(POLICY, 2100, ...ROUND, stopping, demoted);
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave demoted wrong_role');
  });

  test('the new primary opens after its own yes', () => {
    const promoted = isPrimary('pg-2', 2500, { timeline: 2 });
    expect(openIn(aTable(POLICY, 2600, ...ROUND, stopping, demoted, promoted), 'write')).toEqual(['pg-2']);
  });
});

describe('scenario 4: 200 to /primary with role replica is an unfinished promotion', () => {
  const promoting = answered({ member: 'pg-2', at: 30_000, body: { role: 'replica', state: 'running', timeline: 1 } });

  test('the member is never routed to, however long this lasts', () => {
    const table = aTable(POLICY, 30_100, ...ROUND, promoting);
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
    expect(standingIn(table, 'write', 'pg-2')).toBe('keep promoting');
  });

  test('its yes to /replica in the same round does not turn "not yet" into "no"', () => {
    const reads = isReplica('pg-2', 30_010);
    const table = aTable(POLICY, 30_100, ...ROUND, promoting, reads);
    expect(standingIn(table, 'write', 'pg-2')).toBe('keep promoting');
    const lostTheLock = answered({ member: 'pg-2', at: 30_020, status: 503, body: { role: 'replica' } });
    const lost = aTable(POLICY, 30_100, ...ROUND, promoting, reads, lostTheLock);
    expect(standingIn(lost, 'write', 'pg-2')).toBe('leave demoted wrong_role');
  });

  test('the member is routed to as soon as the role changes', () => {
    const table = aTable(POLICY, 30_200, ...ROUND, promoting, isPrimary('pg-2', 30_200, { timeline: 2 }));
    expect(openIn(table, 'write')).toEqual(['pg-2']);
  });

  test('a member in a new promotion loses its sessions when another is proven above it meanwhile', () => {
    const again = answered({ member: 'pg-1', at: 1000, body: { role: 'replica', state: 'running' } });
    const table = aTable(POLICY, 1100, ...ROUND, again, isPrimary('pg-2', 1000, { timeline: 2 }));
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave demoted superseded');
  });

  test('an older timeline is no bar while it is promoted: the promotion begins a newer one', () => {
    const lost = [isPrimary('pg-2', 1000, { timeline: 2 }), refused({ member: 'pg-2', at: 2000 })];
    const again = answered({ member: 'pg-1', at: 2500, body: { role: 'replica', state: 'running' } });
    const before = aTable(POLICY, 2100, ...ROUND, ...lost);
    expect(standingIn(before, 'write', 'pg-1')).toBe('leave demoted superseded');
    const table = aTable(POLICY, 2600, ...ROUND, ...lost, again);
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep promoting');
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
  });
});

describe('scenario 5: 200 with a stopped PostgreSQL is "not now"', () => {
  test.each(['stopping', 'starting', 'crashed', 'unknown', 'restarting'])('state %s', (state) => {
    const table = aTable(POLICY, 1100, ...ROUND, answered({ at: 1000, body: { role: 'primary', state, timeline: 1 } }));
    expect(openIn(table, 'write')).toEqual([]);
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep not_running');
  });

  test('after an in-place restart it is open again', () => {
    const crashed = answered({ at: 1000, body: { role: 'primary', state: 'crashed' } });
    expect(openIn(aTable(POLICY, 3000, ...ROUND, crashed, isPrimary('pg-1', 3000)), 'write')).toEqual(['pg-1']);
  });

  test('its live sessions end by the clock when it also falls silent', () => {
    const crashed = answered({ at: 1000, body: { role: 'primary', state: 'crashed' } });
    const history = [...ROUND, crashed, silent({ at: 2000 })];
    expect(standingIn(aTable(POLICY, 15_999, ...history), 'write', 'pg-1')).toBe('keep not_running');
    expect(standingIn(aTable(POLICY, 16_000, ...history), 'write', 'pg-1')).toBe('leave silent not_running');
  });
});

describe('scenario 6: the host of the primary crashes', () => {
  test('both ports refuse: the member is excluded at once', () => {
    const table = aTable(POLICY, 1100, ...ROUND, refused({ at: 1000 }));
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave dead refused');
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
  });

  test.each([
    ['a time-out', silent({ at: 2000 })],
    ['a local fault', silent({ at: 2000, cause: 'local', postgres: 'unknown' })],
    ['a PostgreSQL that accepts again', refused({ at: 2000, postgres: 'accepts' })],
  ])('%s after that does not bring it back: only a newer answer does', (_, after) => {
    const table = aTable(POLICY, 2100, ...ROUND, refused({ at: 1000 }), after);
    expect(openIn(table, 'write')).toEqual([]);
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave dead refused');
    const back = aTable(POLICY, 3100, ...ROUND, refused({ at: 1000 }), after, isPrimary('pg-1', 3000));
    expect(openIn(back, 'write')).toEqual(['pg-1']);
  });

  test('a vouch does not bring it back either', () => {
    const table = aTable(
      POLICY,
      2200,
      ...ROUND,
      refused({ at: 1000 }),
      refused({ at: 2000, postgres: 'accepts' }),
      vouched('pg-1', 'pg-2', 2100),
    );
    expect(openIn(table, 'write')).toEqual([]);
  });

  test.each(['accepts', 'silent', 'unknown'] as const)(
    'a refused API alone is silence while PostgreSQL %s',
    (postgres) => {
      const table = aTable(POLICY, 1100, ...ROUND, refused({ at: 1000, postgres }));
      expect(openIn(table, 'write')).toEqual(['pg-1']);
    },
  );

  test('a refused PostgreSQL alone is silence too', () => {
    const table = aTable(POLICY, 1100, ...ROUND, silent({ at: 1000, postgres: 'refused' }));
    expect(openIn(table, 'write')).toEqual(['pg-1']);
  });
});

function whyAt(now: number, ...news: readonly Observation[]): unknown {
  return poolOf(aTable(POLICY, now, ...ROUND, ...news), 'write').standings.get('pg-1')?.why;
}

describe('scenario 7: a black hole acts by age, counted from the start of the last good probe', () => {
  const hole = [...ROUND, silent({ at: 1000 }), silent({ at: 4900 })];

  test.each([
    [4999, 'open positive'],
    [5000, 'keep no_answer'],
    [14_999, 'keep no_answer'],
    [15_000, 'leave silent no_answer'],
  ])('at %i ms it is %s', (now, standing) => {
    expect(standingIn(aTable(POLICY, now, ...hole), 'write', 'pg-1')).toBe(standing);
  });

  test('it says since when nobody answers, and how its API fails', () => {
    expect(whyAt(6000)).toMatchObject({ code: 'no_answer', since: 0 });
    expect(whyAt(6000, silent({ at: 1000 }))).toMatchObject({ since: 1000, detail: 'no answer within 800 ms' });
    const apiAlone = refused({ at: 1000, postgres: 'accepts' });
    expect(whyAt(6000, apiAlone)).toMatchObject({ since: 1000, detail: 'connection refused' });
  });

  test('another primary on a higher timeline ends it at once', () => {
    const table = aTable(POLICY, 5100, ...hole, isPrimary('pg-2', 5000, { timeline: 2 }));
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave demoted superseded');
    expect(openIn(table, 'write')).toEqual(['pg-2']);
  });

  test('the loss of all members at once closes no session before the grace', () => {
    const table = aTable(POLICY, 14_999, ...hole, silent({ member: 'pg-2', at: 1000 }));
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep no_answer');
    expect(standingIn(table, 'read', 'pg-2')).toBe('keep no_answer');
  });
});

describe('scenario 8: a frozen API with a PostgreSQL that accepts connections', () => {
  const frozen = silent({ at: 20_000, postgres: 'accepts' });
  const vouch = vouched('pg-1', 'pg-2', 20_100);

  test('it stays open while another member names it as the leader', () => {
    const table = aTable(POLICY, 25_099, ...ROUND, frozen, vouch);
    expect(standingIn(table, 'write', 'pg-1')).toBe('open vouched');
    expect(standingIn(aTable(POLICY, 25_100, ...ROUND, frozen, vouch), 'write', 'pg-1')).toBe('keep no_answer');
  });

  test.each([
    ['vouching is switched off', aPolicy({ probe: { vouching: false } }), [frozen, vouch]],
    ['PostgreSQL does not accept', POLICY, [silent({ at: 20_000, postgres: 'silent' }), vouch]],
    ['PostgreSQL was not probed', POLICY, [silent({ at: 20_000, postgres: 'unknown' }), vouch]],
    ['no member vouches', POLICY, [frozen]],
    ['its own last word was no', POLICY, [answered({ at: 19_000, status: 503 }), frozen, vouch]],
    ['its own last word was not now', POLICY, [answered({ at: 19_000, body: { state: 'stopping' } }), frozen, vouch]],
    [
      'the vouching member now sees no leader',
      POLICY,
      [frozen, vouch, isReplica('pg-2', 20_150, { clusterUnlocked: true })],
    ],
  ])('not when %s', (_, policy, history) => {
    expect(openIn(aTable(policy, 20_200, ...ROUND, ...history), 'write')).toEqual([]);
  });

  test('G12: a probe that failed by a local fault affects neither new sessions nor live ones', () => {
    const stalled = silent({ at: 20_200, cause: 'local', postgres: 'unknown' });
    const table = aTable(POLICY, 20_300, ...ROUND, frozen, vouch, stalled);
    expect(standingIn(table, 'write', 'pg-1')).toBe('open vouched');
    expect(standingIn(aTable(POLICY, 25_100, ...ROUND, frozen, vouch, stalled), 'write', 'pg-1')).toBe(
      'keep no_answer',
    );
  });

  test('older or other observations take no vouch back: a replica may have lost the store', () => {
    const list = aList(0, 'pg-1', 'pg-2', 'pg-3');
    const before = isReplica('pg-2', 20_050, { clusterUnlocked: true });
    const other = isReplica('pg-3', 20_150, { clusterUnlocked: true });
    const table = aTable(POLICY, 20_200, ...ROUND, list, isReplica('pg-3', 0), frozen, vouch, before, other);
    expect(standingIn(table, 'write', 'pg-1')).toBe('open vouched');
  });

  test('live sessions of a member that lost its vouch stay for the grace', () => {
    const history = [...ROUND, frozen, vouch, isReplica('pg-2', 20_150, { clusterUnlocked: true })];
    expect(standingIn(aTable(POLICY, 35_099, ...history), 'write', 'pg-1')).toBe('keep no_answer');
    expect(standingIn(aTable(POLICY, 35_100, ...history), 'write', 'pg-1')).toBe('leave silent no_answer');
  });

  test('a vouch that began before its last yes shortens nothing', () => {
    const history = [
      isPrimary('pg-1', 20_000),
      silent({ at: 20_500, postgres: 'accepts' }),
      { ...vouch, startedAt: 19_000 },
    ];
    expect(standingIn(aTable(POLICY, 24_999, ...ROUND, ...history), 'write', 'pg-1')).toBe('open vouched');
    expect(standingIn(aTable(POLICY, 34_999, ...ROUND, ...history), 'write', 'pg-1')).toBe('keep no_answer');
    expect(standingIn(aTable(POLICY, 35_000, ...ROUND, ...history), 'write', 'pg-1')).toBe('leave silent no_answer');
  });

  test('a vouch gives a server that stops no more time', () => {
    const stopping = answered({ at: 1000, body: { role: 'primary', state: 'stopping' } });
    const history = [stopping, silent({ at: 2000, postgres: 'accepts' }), vouched('pg-1', 'pg-2', 10_000)];
    expect(standingIn(aTable(POLICY, 15_999, ...ROUND, ...history), 'write', 'pg-1')).toBe('keep not_running');
    expect(standingIn(aTable(POLICY, 16_000, ...ROUND, ...history), 'write', 'pg-1')).toBe('leave silent not_running');
  });

  test('a new primary on a higher timeline evicts it, whichever member vouches', () => {
    const table = aTable(POLICY, 20_300, ...ROUND, frozen, vouch, isPrimary('pg-2', 20_200, { timeline: 2 }));
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave demoted superseded');
    expect(openIn(table, 'write')).toEqual(['pg-2']);
  });
});

describe('scenarios 10, 11, 13: the configuration store', () => {
  test('store down: the primary is demoted, clients are held, and the demoted member serves reads as a replica', () => {
    const table = aTable(POLICY, 1100, ...ROUND, isReplica('pg-1', 1000));
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
    expect(openIn(table, 'read')).toEqual(['pg-1', 'pg-2']);
  });

  test.each([
    ['failsafe mode', { failsafe: true, clusterUnlocked: true }],
    ['pause', { pause: true }],
    ['an unlocked cluster', { clusterUnlocked: true }],
    ['a pending restart', { pendingRestart: true }],
  ])('%s alone changes nothing', (_, indicators) => {
    const table = aTable(POLICY, 1100, ...ROUND, isPrimary('pg-1', 1000, indicators));
    expect(openIn(table, 'write')).toEqual(['pg-1']);
    expect(openIn(table, 'read')).toEqual(['pg-2']);
  });
});

describe('an exclusive pool never uses members of another pool', () => {
  test('not even if the policy allows it', () => {
    const pools = [aWritePool({ fallback: { pool: 'read', maxSessions: 10 } }), aPool()];
    const table = aTable(aPolicy({ pools }), 100, LIST, isReplica('pg-1', 0), isReplica('pg-2', 0));
    expect(openIn(table, 'write')).toEqual([]);
  });
});

describe('scenario 28: a reused address', () => {
  const other = isPrimary('pg-1', 1000, { scope: 'billing', timeline: 7 });

  test('the member gets no new sessions; live ones are kept until the grace', () => {
    expect(openIn(aTable(POLICY, 1100, ...ROUND, other), 'write')).toEqual([]);
    expect(standingIn(aTable(POLICY, 14_999, ...ROUND, other), 'write', 'pg-1')).toBe('keep other_cluster');
    expect(standingIn(aTable(POLICY, 15_000, ...ROUND, other), 'write', 'pg-1')).toBe('leave silent other_cluster');
  });

  test('it is no rival of the member that takes over, and its sessions end then', () => {
    const table = aTable(POLICY, 1200, ...ROUND, other, isPrimary('pg-2', 1100));
    expect(openIn(table, 'write')).toEqual(['pg-2']);
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave demoted superseded');
  });

  test('a server that was stopping there gets no more time for it', () => {
    const stops = answered({ at: 500, status: 503, body: { role: 'primary', state: 'stopping' } });
    const before = aTable(POLICY, 900, ...ROUND, stops);
    expect(standingIn(before, 'write', 'pg-1')).toBe('keep not_running');
    expect(standingIn(aTable(POLICY, 1100, ...ROUND, stops, other), 'write', 'pg-1')).toBe('leave demoted not_running');
  });

  test('its timeline does not raise the required timeline', () => {
    const table = aTable(POLICY, 2100, ...ROUND, other, isPrimary('pg-1', 2000));
    expect(openIn(table, 'write')).toEqual(['pg-1']);
  });
});

test('a primary whose PostgreSQL address is unknown is not routed to', () => {
  const list = aList(0, aMember('pg-1', { postgres: undefined }));
  const table = aTable(POLICY, 100, list, isPrimary('pg-1', 0), answered({ check: READ_CHECK, at: 10, status: 503 }));
  expect(openIn(table, 'write')).toEqual([]);
  expect(standingIn(table, 'write', 'pg-1')).toBe('keep no_postgres_address');
  expect([...poolOf(table, 'write').addresses]).toEqual([]);
});

describe('validUntil is the next instant at which an age matters', () => {
  test.each([
    ['an open primary', 100, 5000],
    ['a silent one', 6000, 10_000],
    ['after the read evidence', 10_000, 15_000],
    ['when all is over', 15_000, Infinity],
  ])('%s', (_, now, validUntil) => {
    expect(aTable(POLICY, now, ...ROUND).validUntil).toBe(validUntil);
  });
});

// Facts beside the verdicts: from /cluster documents, from sessions that landed, and from bodies.
import { describe, expect, test } from 'vitest';
import type { LandingObservation, Observation } from '../../../src/model/observation.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { observe } from '../../../src/core/observe.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import type { MemberRecord } from '../../../src/core/snapshot.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
  named,
  READ_CHECK,
  silent,
  vouched,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'pg-2', 'pg-3');

function pg1(...observations: readonly Observation[]): MemberRecord {
  const record = aSnapshot(POLICY, LIST, ...observations).members.get('pg-1');
  if (record === undefined) throw new Error('pg-1 is not known');
  return record;
}

const leader = (...documents: readonly Observation[]) => aSnapshot(POLICY, LIST, ...documents).namedLeader;
const landing = (at: number, by: LandingObservation['by'], member = 'pg-1'): Observation => ({
  kind: 'landing',
  member,
  by,
  startedAt: at,
});
const both = (at: number) => [isPrimary('pg-1', at), answered({ check: '/read-write', at, body: {} })];
const positions = (body: MemberStatus) => pg1(answered({ at: 100, body })).positions;
const sees = (at: number, storeSeenAt?: number) =>
  answered({ at, body: storeSeenAt === undefined ? {} : { storeSeenAt } });
const since = (...answers: readonly Observation[]) => pg1(...answers).storeSeenSince;
const yesSince = (at: number) => pg1(isPrimary('pg-1', 0), isPrimary('pg-1', at)).checks.get('/primary')?.positiveSince;

/** Whether the word of such a session is stale after a later yes. */
function isStaleAfter(by: LandingObservation['by']): boolean | undefined {
  return pg1(isPrimary('pg-1', 100), landing(200, by), isPrimary('pg-1', 300)).standbyReport?.isStale;
}

describe('the leader that other members name', () => {
  const first = named('pg-1', 'pg-2', 1000);

  test('is named since the first document of a run', () => {
    expect(leader(first, named('pg-1', 'pg-3', 15_999))).toEqual({ leader: 'pg-1', since: 1000, at: 15_999 });
  });

  test('is named anew after a gap of `silence_grace`, and after another leader', () => {
    expect(leader(first, named('pg-1', 'pg-3', 16_000))?.since).toBe(16_000);
    expect(leader(first, named('pg-3', 'pg-2', 2000), named('pg-1', 'pg-2', 3000))?.since).toBe(3000);
  });

  test('is unknown once a document names none', () => {
    expect(leader(first, named(undefined, 'pg-2', 2000))).toBeUndefined();
  });

  test.each([
    ['the leader itself', named('pg-3', 'pg-3', 2000)],
    ['an unknown member', named('pg-3', 'pg-9', 2000)],
    ['an older instant', named('pg-3', 'pg-2', 999)],
  ])('is not changed by a document of %s', (_, document) => {
    expect(leader(first, document)).toEqual({ leader: 'pg-1', since: 1000, at: 1000 });
  });
});

describe('a list', () => {
  const switchover = { leader: 'pg-1', at: 60_000 };
  const refused = [{ name: 'pg-9', reason: 'api_port', why: 'not allowed' }] as const;

  test('tells of a scheduled switchover until a later one says that there is none', () => {
    const known = aSnapshot(POLICY, { ...LIST, switchover });
    expect(known.switchover).toEqual(switchover);
    expect(observe(POLICY, known, aList(100, 'pg-1')).switchover).toEqual(switchover);
    expect(observe(POLICY, known, { ...aList(100, 'pg-1'), switchover: 'none' }).switchover).toBeUndefined();
  });

  test('tells of members that are not used, until a later one says otherwise', () => {
    const known = aSnapshot(POLICY, { ...LIST, refused });
    expect(observe(POLICY, known, aList(100, 'pg-1')).refused).toEqual(refused);
    expect(observe(POLICY, known, { ...aList(100, 'pg-1'), refused: [] }).refused).toEqual([]);
  });

  test('drops a member that it omits and that never answered, at once', () => {
    expect([...aSnapshot(POLICY, LIST, aList(1, 'pg-1')).members.keys()]).toEqual(['pg-1']);
  });
});

describe('a session that landed', () => {
  test('at a standby is remembered since the first one, and until one landed at a primary', () => {
    const two = [isPrimary('pg-1', 100), landing(200, 'standby'), landing(300, 'standby')];
    expect(pg1(...two).standbyReport).toEqual({ at: 300, since: 200, by: 'standby', isStale: false });
    expect(pg1(...two, landing(400, 'primary')).standbyReport).toBeUndefined();
  });

  test('at a standby outweighs each later yes of its API, and one at a pooler does not', () => {
    expect([isStaleAfter('standby'), isStaleAfter('pooler')]).toEqual([false, true]);
  });

  test('at an unknown member tells nothing', () => {
    const before = aSnapshot(POLICY, LIST);
    expect(observe(POLICY, before, landing(100, 'standby', 'pg-9'))).toEqual(before);
  });

  test.each<[string, readonly Observation[]]>([
    ['the first yes, which is of another timeline than before', [landing(100, 'standby'), isPrimary('pg-1', 200)]],
    [
      'an answer that says nothing about a check for the primary that was never answered',
      [landing(100, 'standby'), answered({ check: READ_CHECK, at: 200, status: 503, body: {} })],
    ],
  ])('is forgotten with %s', (_, observations) => {
    expect(pg1(...observations).standbyReport).toBeUndefined();
  });

  test('counts until every check for the primary says yes', () => {
    const policy = aPolicy({ pools: [aWritePool(), aWritePool({ name: 'too', check: '/read-write' }), aPool()] });
    const report = (...news: readonly Observation[]) =>
      aSnapshot(policy, aList(0, 'pg-1'), ...both(100), landing(200, 'pooler'), ...news).members.get('pg-1')
        ?.standbyReport;
    expect(report(isPrimary('pg-1', 300))).toMatchObject({ isStale: false });
    const timeline = { role: 'primary', timeline: 1 } as const;
    const yes = answered({ check: '/read-write', at: 400, body: timeline });
    expect(report(answered({ check: '/read-write', at: 300, status: 503, body: { role: 'primary' } }))).toBeUndefined();
    const known = aSnapshot(policy, aList(0, 'pg-1'), isPrimary('pg-1', 100), { ...yes, startedAt: 110 });
    const stale = [landing(200, 'pooler'), isPrimary('pg-1', 300), yes].reduce(
      (snapshot, observation) => observe(policy, snapshot, observation),
      known,
    );
    expect(stale.members.get('pg-1')?.standbyReport).toMatchObject({ isStale: true });
  });

  test('is not outweighed by an answer without a body', () => {
    const health = aPolicy({ pools: [aWritePool(), aPool({ check: '/liveness' })] });
    const alive = answered({ check: '/liveness', at: 300, body: undefined });
    const seen = aSnapshot(health, aList(0, 'pg-1'), isPrimary('pg-1', 100), landing(200, 'pooler'), alive);
    expect(seen.members.get('pg-1')?.standbyReport).toMatchObject({ isStale: false });
  });
});

describe('a vouch', () => {
  const vouch = [silent({ at: 100 }), vouched('pg-1', 'pg-2', 200)];

  test.each<[string, Observation, boolean]>([
    ['stays while the member that vouched reports a leader', isReplica('pg-2', 300), false],
    ['stays at its own instant', isReplica('pg-2', 200, { clusterUnlocked: true }), false],
    ['is taken back after it', isReplica('pg-2', 201, { clusterUnlocked: true }), true],
  ])('%s', (_, observation, takenBack) => {
    expect(pg1(...vouch, observation).vouch?.takenBack).toBe(takenBack);
  });
});

describe('a body', () => {
  test.each<[string, MemberStatus, unknown]>([
    [
      'a running primary: its own position, and its start',
      { role: 'primary', state: 'running', timeline: 2, location: 7, startedAt: 'monday' },
      { at: 100, kind: 'location', bytes: 7, timeline: 2, startedAt: 'monday' },
    ],
    [
      'a primary that is not running: its start may be the one before',
      { role: 'primary', state: 'starting', location: 7, startedAt: 'monday' },
      { at: 100, kind: 'location', bytes: 7 },
    ],
    [
      'a replica: what it replayed',
      { role: 'replica', replayed: 5, location: 7 },
      { at: 100, kind: 'replayed', bytes: 5 },
    ],
    ['a replica with its own position alone: nothing', { role: 'replica', location: 7 }, undefined],
    [
      'no role, and a position: a primary',
      { state: 'running', location: 7, startedAt: 'monday' },
      { at: 100, kind: 'location', bytes: 7 },
    ],
    ['no role, and both: a replica', { location: 7, replayed: 5 }, { at: 100, kind: 'replayed', bytes: 5 }],
    ['a primary whose position is no number: nothing', { role: 'primary', location: 'invalid' }, undefined],
  ])('shows the WAL of %s', (_, body, position) => {
    expect(positions(body)).toEqual(position === undefined ? [] : [position]);
  });

  test('says when the member last saw the store: the first answer with that time is kept', () => {
    expect(since(sees(100, 7))).toBe(100);
    expect(since(sees(100, 7), sees(200, 7), sees(300, 7))).toBe(100);
    expect(since(sees(100, 7), sees(200, 8))).toBe(200);
    expect(since(sees(100, 7), sees(200))).toBeUndefined();
    expect(since(sees(100, 7), answered({ at: 200, body: undefined }))).toBe(100);
  });

  test('that is missing pins no identity, and is no lost identity', () => {
    const bare = answered({ at: 100, body: undefined });
    const start = observe(POLICY, emptySnapshot(undefined), aList(0, 'pg-1'));
    expect(observe(POLICY, start, bare).scope).toBeUndefined();
    const known = [isPrimary('pg-1', 0, { scope: 'lab' }), bare];
    expect(pg1(...known)).toMatchObject({ answeredAt: 100, mismatch: undefined });
  });

  test('of another check than that of the primary claims nothing: only its own check shows the lock', () => {
    expect(pg1(isReplica('pg-1', 100, { role: 'primary' })).selfReport?.isPrimary).toBe(false);
    expect(pg1(isPrimary('pg-1', 100)).selfReport?.isPrimary).toBe(true);
    expect(pg1(answered({ check: '/leader', at: 100, body: { role: 'primary' } })).selfReport).toBeUndefined();
  });
});

test('a run of yeses is broken by a gap of `write_max_age`', () => {
  expect([yesSince(4999), yesSince(5000)]).toEqual([0, 5000]);
});

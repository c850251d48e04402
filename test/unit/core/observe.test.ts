import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/observe.ts';
import { checksOf, nextCheck } from '../../../src/core/next-check.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { newRecord } from '../../../src/core/snapshot.ts';
import type { MemberRecord, Snapshot } from '../../../src/core/snapshot.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
  MB,
  READ_CHECK,
  refused,
  silent,
  vouched,
  WRITE_CHECK,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();

function recordOf(snapshot: Snapshot, member: string): MemberRecord {
  const record = snapshot.members.get(member);
  if (record === undefined) throw new Error(`${member} is not known`);
  return record;
}

/** A 503 to the read check with no cause except lag. */
function lags(at: number): Observation {
  return answered({ check: READ_CHECK, at, status: 503, body: { role: 'replica', state: 'running' } });
}

function whole(...observations: readonly Observation[]): boolean {
  return aSnapshot(POLICY, ...observations).complete;
}

function verdictsOf(snapshot: Snapshot, member: string): Record<string, string> {
  const checks = [...recordOf(snapshot, member).checks];
  return Object.fromEntries(checks.map(([text, { verdict }]) => [text, `${verdict.kind} ${verdict.why.code}`]));
}

describe('the effect of one answer', () => {
  test('a primary answers yes to /primary and so no to /replica: one request a round', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), isPrimary('pg-1', 100));
    expect(verdictsOf(snapshot, 'pg-1')).toEqual({
      [WRITE_CHECK]: 'positive positive',
      [READ_CHECK]: 'negative wrong_role',
    });
  });

  test('a replica answers yes to /replica and so no to /primary', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), isReplica('pg-1', 100));
    expect(verdictsOf(snapshot, 'pg-1')).toEqual({
      [WRITE_CHECK]: 'negative wrong_role',
      [READ_CHECK]: 'positive positive',
    });
  });

  test('without a body only the requested check is judged', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), answered({ at: 100, body: undefined }));
    expect(verdictsOf(snapshot, 'pg-1')).toEqual({ [WRITE_CHECK]: 'positive positive' });
  });

  test('an answer of an unknown member is ignored', () => {
    const before = aSnapshot(POLICY, aList(0, 'pg-1'));
    expect(observe(POLICY, before, isPrimary('pg-9', 100))).toEqual(before);
    expect(observe(POLICY, before, vouched('pg-9', 'pg-1', 100))).toEqual(before);
  });

  test('the highest timeline comes from a primary, never drops and never comes from a replica', () => {
    const snapshot = aSnapshot(
      POLICY,
      aList(0, 'pg-1', 'pg-2'),
      isPrimary('pg-1', 100, { timeline: 3 }),
      isPrimary('pg-2', 200, { timeline: 2 }),
      isReplica('pg-2', 300, { timeline: 9 }),
      answered({ member: 'pg-2', at: 400, body: { role: 'replica', timeline: 9 } }),
    );
    expect(snapshot.highestTimeline).toBe(3);
  });

  test('positions are kept newest first, eight of them, and only if they are numbers', () => {
    const history = Array.from({ length: 10 }, (_, i) => isReplica('pg-1', 100 + i, { replayed: i * MB }));
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), ...history, isReplica('pg-1', 200, { replayed: 'invalid' }));
    const { positions } = recordOf(snapshot, 'pg-1');
    expect(positions.map(({ bytes }) => bytes / MB)).toEqual([9, 8, 7, 6, 5, 4, 3, 2]);
  });
});

describe('a probe that is older than the newest applied one is discarded', () => {
  test.each([
    ['an older yes', isPrimary('pg-1', 199)],
    ['an older silence', silent({ at: 199 })],
    ['an older refusal', refused({ at: 199 })],
  ])('%s changes nothing', (_, late) => {
    const before = aSnapshot(POLICY, aList(0, 'pg-1'), answered({ at: 200, status: 503 }));
    expect(observe(POLICY, before, late)).toEqual(before);
  });

  test('an answer that is older than a failure is discarded too', () => {
    const before = aSnapshot(POLICY, aList(0, 'pg-1'), silent({ at: 200 }));
    expect(observe(POLICY, before, isPrimary('pg-1', 100))).toEqual(before);
  });

  test('the order of one member’s answers does not affect another member', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), isReplica('pg-1', 200), isPrimary('pg-2', 100));
    expect(recordOf(snapshot, 'pg-2').answeredAt).toBe(100);
  });

  test('an older vouch does not replace a newer one', () => {
    const snapshot = aSnapshot(
      POLICY,
      aList(0, 'pg-1', 'pg-2', 'pg-3'),
      vouched('pg-1', 'pg-2', 200),
      vouched('pg-1', 'pg-3', 100),
    );
    expect(recordOf(snapshot, 'pg-1').vouch).toEqual({ at: 200, by: 'pg-2', takenBack: false });
  });
});

describe('a no and a yes of one instant', () => {
  test.each([
    ['the check failed', answered({ at: 100, status: 503 })],
    ['the body of another check ruled it out', isReplica('pg-1', 100)],
  ])('%s: a yes to a probe that started at the same instant does not bring the member back', (_, no) => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), no, isPrimary('pg-1', 100));
    expect(recordOf(snapshot, 'pg-1').checks.get(WRITE_CHECK)?.verdict.kind).toBe('negative');
  });

  test('the no also wins in the other order', () => {
    const snapshot = aSnapshot(
      POLICY,
      aList(0, 'pg-1'),
      isPrimary('pg-1', 100),
      answered({ at: 100, status: 503, body: { role: 'primary' } }),
    );
    expect(recordOf(snapshot, 'pg-1').checks.get(WRITE_CHECK)?.verdict.kind).toBe('negative');
  });
});

describe('silence', () => {
  test('keeps the evidence and remembers its own start', () => {
    const snapshot = aSnapshot(
      POLICY,
      aList(0, 'pg-1'),
      isPrimary('pg-1', 100),
      silent({ at: 1100 }),
      refused({ at: 2100, postgres: 'accepts' }),
    );
    const record = recordOf(snapshot, 'pg-1');
    expect(record.failure).toMatchObject({ since: 1100, at: 2100 });
    expect(record.answeredAt).toBe(100);
    expect(verdictsOf(snapshot, 'pg-1')).toMatchObject({ [WRITE_CHECK]: 'positive positive' });
  });

  test('ends with an answer, and so does the vouch for that time', () => {
    const snapshot = aSnapshot(
      POLICY,
      aList(0, 'pg-1', 'pg-2'),
      silent({ at: 100 }),
      vouched('pg-1', 'pg-2', 150),
      isPrimary('pg-1', 200),
    );
    expect(recordOf(snapshot, 'pg-1')).toMatchObject({ failure: undefined, vouch: undefined, answeredAt: 200 });
  });
});

describe('rise and fall count answers of pools that are not exclusive', () => {
  test.each<[string, { rise: number; fall: number }, readonly Observation[], boolean]>([
    ['one yes is enough by default', { rise: 1, fall: 2 }, [isReplica('pg-1', 100)], true],
    ['one no is not', { rise: 1, fall: 2 }, [isReplica('pg-1', 100), lags(200)], true],
    ['two are', { rise: 1, fall: 2 }, [isReplica('pg-1', 100), lags(200), lags(300)], false],
    [
      'a yes between them starts the count again',
      { rise: 1, fall: 2 },
      [isReplica('pg-1', 100), lags(200), isReplica('pg-1', 300), lags(400)],
      true,
    ],
    ['a first no is a no', { rise: 1, fall: 3 }, [lags(100)], false],
    ['rise 2: the first yes waits', { rise: 2, fall: 2 }, [isReplica('pg-1', 100)], false],
    ['rise 2: the second opens', { rise: 2, fall: 2 }, [isReplica('pg-1', 100), isReplica('pg-1', 200)], true],
    [
      'a change of role flips at once',
      { rise: 1, fall: 9 },
      [isReplica('pg-1', 100), answered({ check: READ_CHECK, at: 200, status: 503, body: { role: 'primary' } })],
      false,
    ],
    [
      'a stopped server flips at once',
      { rise: 1, fall: 9 },
      [isReplica('pg-1', 100), answered({ check: READ_CHECK, at: 200, status: 503, body: { state: 'stopped' } })],
      false,
    ],
    [
      'a tag of the operator flips at once',
      { rise: 1, fall: 9 },
      [isReplica('pg-1', 100), answered({ check: READ_CHECK, at: 200, status: 503, body: { noloadbalance: true } })],
      false,
    ],
  ])('%s', (_, probe, answers, up) => {
    const snapshot = aSnapshot(aPolicy({ probe }), aList(0, 'pg-1'), ...answers);
    expect(recordOf(snapshot, 'pg-1').checks.get(READ_CHECK)?.up).toBe(up);
  });
});

describe('the first complete round', () => {
  test('needs at least one member', () => {
    expect(whole(aList(0))).toBe(false);
  });

  test('needs every check of every member, answered or failed', () => {
    const list = aList(0, 'pg-1', 'pg-2');
    expect(whole(list, isPrimary('pg-1', 100))).toBe(false);
    expect(whole(list, isPrimary('pg-1', 100), isReplica('pg-2', 100))).toBe(true);
    expect(whole(list, isPrimary('pg-1', 100), silent({ member: 'pg-2', at: 100 }))).toBe(true);
    expect(whole(list, isPrimary('pg-1', 100), isReplica('pg-2', 100, { scope: 'billing' }))).toBe(true);
    expect(whole(list, isPrimary('pg-1', 100), answered({ member: 'pg-2', at: 100, status: 503, body: {} }))).toBe(
      false,
    );
  });

  test('happens once: a member that joins later does not revert it', () => {
    expect(whole(aList(0, 'pg-1'), isPrimary('pg-1', 100), aList(200, 'pg-1', 'pg-2'))).toBe(true);
  });
});

describe('the next check of the round', () => {
  const NOBODY_SOUGHT: ReadonlySet<string> = new Set();

  test('checks of all pools are sent once each', () => {
    const policy = aPolicy({ pools: [aWritePool(), aPool(), aPool({ name: 'too', check: READ_CHECK })] });
    expect(checksOf(policy).map(({ text }) => text)).toEqual([WRITE_CHECK, READ_CHECK]);
  });

  test('a member without answers gets the checks in the order of the pools', () => {
    expect(nextCheck(POLICY, newRecord(aMember('pg-1')), 100, NOBODY_SOUGHT)?.text).toBe(WRITE_CHECK);
  });

  test('the last successful check is sent first, and a yes ends the round', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), isReplica('pg-1', 100));
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 1000, NOBODY_SOUGHT)?.text).toBe(READ_CHECK);
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 100, NOBODY_SOUGHT)).toBeUndefined();
  });

  test('the check of an exclusive pool without a member is sent before that', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), isReplica('pg-1', 100));
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 1000, new Set([WRITE_CHECK]))?.text).toBe(WRITE_CHECK);
  });

  test('the wanted check is sent once more in the round if a later body reports the end of the promotion', () => {
    const promoting = answered({ at: 100, body: { role: 'replica', state: 'running' } });
    const done = isReplica('pg-1', 110, { role: 'primary' });
    const sought = new Set([WRITE_CHECK]);
    const record = (...more: readonly Observation[]): MemberRecord =>
      recordOf(aSnapshot(POLICY, aList(0, 'pg-1'), promoting, done, ...more), 'pg-1');
    expect(nextCheck(POLICY, record(), 100, sought)?.text).toBe(WRITE_CHECK);
    expect(nextCheck(POLICY, record(), 100, NOBODY_SOUGHT)).toBeUndefined();
    expect(
      nextCheck(POLICY, record(answered({ at: 120, status: 503, body: { role: 'primary' } })), 100, sought),
    ).toBeUndefined();
  });

  test.each([
    ['still is a replica', isReplica('pg-1', 110)],
    ['has no body', answered({ check: READ_CHECK, at: 110, body: undefined })],
  ])('the wanted check is sent once in the round if a later answer %s', (_, later) => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), answered({ at: 100, status: 503, body: undefined }), later);
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 100, new Set([WRITE_CHECK]))).toBeUndefined();
  });

  test('checks that the body did not rule out are sent in the same round', () => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), answered({ at: 100, status: 503, body: {} }));
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 100, NOBODY_SOUGHT)?.text).toBe(READ_CHECK);
  });

  test.each([
    ['a failure', silent({ at: 100 })],
    ['a foreign server at the address', isPrimary('pg-1', 100, { scope: 'billing' })],
  ])('%s ends the round', (_, observation) => {
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1'), observation);
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 100, NOBODY_SOUGHT)).toBeUndefined();
    expect(nextCheck(POLICY, recordOf(snapshot, 'pg-1'), 101, NOBODY_SOUGHT)?.text).toBe(WRITE_CHECK);
  });
});

// Which sessions go to a member that came back, by examples. The properties of a whole plan are in property/core.
import { describe, expect, test } from 'vitest';
import { isOwed, isSettled, maySpread, planSpread } from '../../../src/core/spread.ts';
import type { SpreadMember } from '../../../src/core/spread.ts';

function place(member: string, sessions: number, about: Partial<SpreadMember> = {}): SpreadMember {
  return { member, sessions, weight: 1, isOwed: false, mayLeave: sessions, ...about };
}

/** `a>c a>c b>c` */
function plan(limit: number, ...members: readonly SpreadMember[]): string {
  return planSpread(members, limit)
    .map(({ from, to }) => `${from}>${to}`)
    .join(' ');
}

const BACK = { isOwed: true } as const;

describe('a plan', () => {
  test.each<[string, string, readonly SpreadMember[]]>([
    [
      'takes from the fullest first, up to the share',
      'a>c a>c b>c',
      [place('a', 5), place('b', 4), place('c', 0, BACK)],
    ],
    ['gives to the emptiest first', 'a>c a>b a>c a>b a>c', [place('a', 9), place('b', 1, BACK), place('c', 0, BACK)]],
    ['moves nobody to a member that is not owed', '', [place('a', 9), place('b', 0)]],
    ['leaves the giver with as many as the taker gets', 'a>b', [place('a', 3), place('b', 0, BACK)]],
    [
      'stops at the share',
      Array.from({ length: 14 }, () => 'a>c').join(' '),
      [place('a', 30), place('b', 10), place('c', 0, BACK)],
    ],
    ['moves nobody from a member with little for its weight', '', [place('a', 4, { weight: 4 }), place('b', 0, BACK)]],
    [
      'counts load by weight, of a later giver',
      'b>c b>c b>c',
      [place('b', 6), place('a', 6, { weight: 6 }), place('c', 0, { ...BACK, weight: 1.5 })],
    ],
    [
      'counts load by weight, of an earlier taker',
      'a>c a>c a>c a>b',
      [place('a', 6), place('c', 1, { ...BACK, weight: 3 }), place('b', 1, BACK)],
    ],
    ['gives nothing where a probe is missing', '', [place('a', 9), place('b', 0, { ...BACK, isSuspect: true })]],
    ['does not swap the two', '', [place('a', 1), place('b', 0, BACK)]],
    [
      'counts load by weight, of the giver',
      'b>c b>c b>c',
      [place('a', 6, { weight: 6 }), place('b', 6), place('c', 0, { ...BACK, weight: 1.5 })],
    ],
    [
      'counts load by weight, of the taker',
      'a>c a>c a>b a>c',
      [place('a', 6), place('b', 1, BACK), place('c', 1, { ...BACK, weight: 3 })],
    ],
    [
      'takes only sessions that may leave',
      'a>c b>c b>c',
      [place('a', 9, { mayLeave: 1 }), place('b', 8), place('c', 0, { ...BACK, weight: 0.5 })],
    ],
    [
      'neither takes nor gives where a probe is missing',
      '',
      [place('a', 9, { isSuspect: true }), place('b', 0, BACK), place('c', 0, { ...BACK, isSuspect: true })],
    ],
    [
      'empties another zone first, whatever its load',
      'a>c a>c',
      [place('a', 2, { isFar: true }), place('b', 3), place('c', 2, BACK)],
    ],
    [
      'gives nothing to another zone while a near member is open',
      '',
      [place('a', 9), place('b', 0, { ...BACK, isFar: true })],
    ],
    [
      'counts a near member that missed a probe as none',
      'b>c',
      [place('a', 0, { isSuspect: true }), place('b', 3, { isFar: true }), place('c', 0, { ...BACK, isFar: true })],
    ],
  ])('%s', (_, shifts, members) => {
    expect(plan(100, ...members)).toBe(shifts);
  });

  test('stops at its limit', () => {
    expect(plan(2, place('a', 9), place('b', 0, BACK))).toBe('a>b a>b');
    expect(plan(0, place('a', 9), place('b', 0, BACK))).toBe('');
  });
});

test.each([
  ['open from the beginning', -Infinity, undefined, 1000, false],
  ['that came back', 1000, undefined, 1000, true],
  ['that has had its share since', 1000, 1000, 1000, false],
  ['that had its share after an earlier opening', 1000, 500, 1000, true],
  ['at the end of the time', 1000, undefined, 630_999, true],
  ['after it', 1000, undefined, 631_000, false],
])('a member %s is owed sessions, with a slow start of 30 s: %d, %s, at %d: %s', (_, openedAt, givenFor, now, owed) => {
  expect(isOwed({ openedAt, givenFor }, 30_000, now)).toBe(owed);
});

test('a member is settled 5 s after it opened, and a session rests 10 min after a move', () => {
  expect([5999, 6000].map((now) => isSettled({ openedAt: 1000 }, now))).toEqual([false, true]);
  expect([600_999, 601_000].map((now) => maySpread(1000, now))).toEqual([false, true]);
  expect(maySpread(undefined, 0)).toBe(true);
});

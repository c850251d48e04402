import { describe, expect, test } from 'vitest';
import { pickTarget, rampedShare } from '../../../src/core/balance.ts';
import type { Credits, PickOptions } from '../../../src/core/balance.ts';
import type { Balance } from '../../../src/model/policy.ts';
import type { Target } from '../../../src/core/routing-table.ts';

function target(member: string, sharing: Pick<Target, 'weight' | 'isFar'> = {}): Target {
  return { member, address: { host: member, port: 5432 }, ...sharing };
}

type Targets = readonly [Target, ...Target[]];
type Load = Readonly<Record<string, number>>;

const THREE: Targets = [target('a'), target('b'), target('c')];
const HEAVY: Targets = [target('a', { weight: 3 }), target('b'), target('c')];

function inputs(load: Load = {}, chance = 0, credits: Credits = new Map()): PickOptions {
  const sessionsOn = (member: string): number => load[member] ?? 0;
  return {
    sessionsOn,
    weightOf: ({ weight }) => weight ?? 1,
    random: () => chance,
    credits,
    clientAddress: '10.0.0.1',
  };
}

function pick(balance: Balance, targets: Targets, load: Load = {}, chance = 0): string {
  return pickTarget(balance, targets, inputs(load, chance)).target.member;
}

/** The next `count` picks, in order. */
function turns(targets: Targets, count: number, credits: Credits = new Map()): string {
  let word = '';
  for (let turn = 0; turn < count; turn += 1) {
    const picked = pickTarget('round_robin', targets, inputs({}, 0, credits));
    credits = picked.credits;
    word += picked.target.member;
  }
  return word;
}

describe('round_robin takes turns', () => {
  test('each of equal members has its own turn', () => {
    expect(turns(THREE, 7)).toBe('abcabca');
  });

  test('a higher weight gives more turns, and never all of them in a row', () => {
    expect(turns(HEAVY, 10)).toBe('abacaabaca');
  });

  test('a joining member has no turns due', () => {
    const { credits } = pickTarget('round_robin', [target('a'), target('b')], inputs());
    expect(turns(THREE, 3, credits)).toBe('bca');
  });
});

describe('random uses only chance and weight', () => {
  const load = { a: 0, b: 100, c: 100 };

  test.each([
    [0, 'a'],
    [0.34, 'b'],
    [0.999, 'c'],
  ])('%d is %s', (chance, member) => {
    expect(pick('random', THREE, load, chance)).toBe(member);
  });

  test.each([
    [0, 'a'],
    [0.59, 'a'],
    [0.61, 'b'],
    [0.81, 'c'],
  ])('three fifths of the weight are three fifths of the chances: %d is %s', (chance, member) => {
    expect(pick('random', HEAVY, load, chance)).toBe(member);
  });
});

describe('least_sessions takes the least loaded, and chance decides a tie', () => {
  test.each<[Load, number, string]>([
    [{ a: 3, b: 1, c: 2 }, 0.999, 'b'],
    [{ a: 3, b: 2, c: 1 }, 0, 'c'],
    [{ a: 0, b: 1, c: 1 }, 0.999, 'a'],
    [{ a: 1, b: 1, c: 9 }, 0, 'a'],
    [{ a: 1, b: 1, c: 9 }, 0.5, 'b'],
    [{ a: 9, b: 1, c: 1 }, 0.5, 'c'],
    [{ a: 0, b: 0, c: 0 }, 0.5, 'b'],
  ])('%j with chance %d is %s', (load, chance, member) => {
    expect(pick('least_sessions', THREE, load, chance)).toBe(member);
  });

  test.each<[Load, string]>([
    [{ a: 0, b: 0, c: 0 }, 'a'],
    [{ a: 2, b: 1, c: 1 }, 'a'],
    [{ a: 3, b: 0, c: 1 }, 'b'],
    [{ a: 6, b: 1, c: 2 }, 'b'],
  ])('load is relative to weight: %j is %s', (load, member) => {
    expect(pick('least_sessions', HEAVY, load)).toBe(member);
  });

  test.each<[Load, number, string]>([
    [{ a: 8, b: 0 }, 0, 'b'],
    [{ a: 8, b: 1 }, 0, 'a'],
    [{ a: 11, b: 1 }, 0, 'b'],
    [{ a: 0, b: 0 }, 0.89, 'a'],
    [{ a: 0, b: 0 }, 0.92, 'b'],
  ])('a tenth of the weight gives a tenth of the sessions, and of the chances of a tie: %j with %d is %s', (...row) => {
    const [load, chance, member] = row;
    expect(pick('least_sessions', [target('a'), target('b', { weight: 0.1 })], load, chance)).toBe(member);
  });
});

describe('latency draws two by weight, and takes the one with less load for its weight', () => {
  test.each<[string, string, Targets, Load, number]>([
    ['the best of the two, not of all', 'b', THREE, { a: 5, b: 1 }, 0],
    ['the first of the two', 'a', THREE, { a: 1, b: 5 }, 0],
    ['two others', 'b', THREE, { b: 1, c: 3 }, 0.999],
    ['of two alike the one that was drawn first', 'a', THREE, {}, 0],
    ['by weight, with the new session: alike', 'a', HEAVY, { a: 2 }, 0],
    ['by weight, with the new session: less', 'b', HEAVY, { a: 3 }, 0],
    ['a small weight where nobody has a session', 'b', [target('a', { weight: 0.1 }), target('b')], {}, 0],
  ])('%s: %s', (_, member, targets, load, chance) => {
    expect(pick('latency', targets, load, chance)).toBe(member);
  });
});

/** The result does not depend on load and chance. */
function memberOf(targets: Targets, clientAddress: string): string {
  return pickTarget('client_address', targets, { ...inputs({ a: 1_000 }, 0.5), clientAddress }).target.member;
}

describe('client_address routes an address to one member', () => {
  const ADDRESSES = Array.from({ length: 4_000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
  const countOf = (targets: Targets, member: string): number =>
    ADDRESSES.filter((address) => memberOf(targets, address) === member).length;

  test('the result does not depend on load or on the order of the members', () => {
    const [a, b, c] = THREE.map(({ member }) => target(member));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three of them');
    for (const address of ADDRESSES) expect(memberOf([c, a, b], address)).toBe(memberOf(THREE, address));
  });

  // Two versions of the program may serve the same addresses during an upgrade.
  test.each([
    ['10.0.0.1', 'pg-3'],
    ['10.0.0.2', 'pg-2'],
    ['10.0.0.4', 'pg-3'],
    ['192.168.7.20', 'pg-1'],
    ['192.168.7.21', 'pg-2'],
    ['fd00::1', 'pg-3'],
    ['::1', 'pg-2'],
  ])('%s goes to %s, in each version', (address, member) => {
    expect(memberOf([target('pg-1'), target('pg-2'), target('pg-3')], address)).toBe(member);
  });

  test('addresses are distributed evenly, and by weight', () => {
    for (const member of ['a', 'b', 'c']) {
      expect(Math.abs(countOf(THREE, member) - 4_000 / 3)).toBeLessThan(150);
    }
    expect(Math.abs(countOf(HEAVY, 'a') - 2_400)).toBeLessThan(150);
  });

  test('a member that leaves or joins moves only its own addresses', () => {
    const two: Targets = [target('a'), target('c')];
    const moved = ADDRESSES.filter((address) => memberOf(two, address) !== memberOf(THREE, address));
    expect(new Set(moved.map((address) => memberOf(THREE, address)))).toEqual(new Set(['b']));
  });

  test('slow start moves no address', () => {
    const ramped = { ...inputs(), weightOf: ({ member }: Target) => (member === 'a' ? 0.01 : 1) };
    for (const clientAddress of ADDRESSES.slice(0, 100)) {
      const { member } = pickTarget('client_address', THREE, { ...ramped, clientAddress }).target;
      expect(member).toBe(memberOf(THREE, clientAddress));
    }
  });
});

describe.each(['round_robin', 'random', 'least_sessions', 'latency', 'client_address'] as const)('%s', (balance) => {
  test('a single target always wins', () => {
    expect(pick(balance, [target('a')], {}, 0.99)).toBe('a');
  });

  test('a far member takes no sessions while a near one is open, whatever the load', () => {
    const far = target('a', { isFar: true, weight: 100 });
    expect(pick(balance, [far, target('b')], { b: 1000 })).toBe('b');
    expect(pick(balance, [far], { a: 1000 })).toBe('a');
  });
});

test.each([
  [0, 0.01],
  [100, 0.01],
  [7_500, 0.25],
  [15_000, 0.5],
  [30_000, 1],
  [Infinity, 1],
])('slow start of 30 s: %d ms after it opened a member has %d of its weight', (openForMs, share) => {
  expect(rampedShare(openForMs, 30_000)).toBe(share);
});

test('without slow start a member has its whole weight at once', () => {
  expect(rampedShare(0, 0)).toBe(1);
});

test.each(['least_sessions', 'latency', 'round_robin', 'random', 'client_address'] as const)(
  '%s: a member that missed a probe comes last',
  (balance) => {
    const [a, b] = [target('a'), target('b')] as const;
    expect(pick(balance, [{ ...a, isSuspect: true }, b], { a: 0, b: 9 })).toBe('b');
    expect(
      pick(
        balance,
        [
          { ...a, isSuspect: true },
          { ...b, isFar: true },
        ],
        { a: 0, b: 9 },
      ),
    ).toBe('b');
    expect(pick(balance, [{ ...a, isSuspect: true }])).toBe('a');
  },
);

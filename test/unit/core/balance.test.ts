import { describe, expect, test } from 'vitest';
import { pickTarget } from '../../../src/core/balance.ts';
import type { PickInputs } from '../../../src/core/balance.ts';
import type { Target } from '../../../src/core/routing-table.ts';

function target(member: string): Target {
  return { member, address: { host: member, port: 5432 } };
}

const THREE = [target('a'), target('b'), target('c')] as const;

function inputs(overrides: Partial<PickInputs> & { readonly load?: Readonly<Record<string, number>> }): PickInputs {
  const { load = {}, ...rest } = overrides;
  return { sessionsOn: (member) => load[member] ?? 0, random: () => 0, turn: 0, ...rest };
}

describe('round-robin takes turns', () => {
  test.each([
    [0, 'a'],
    [1, 'b'],
    [2, 'c'],
    [3, 'a'],
    [3_000_001, 'b'],
  ])('turn %i is for %s', (turn, member) => {
    expect(pickTarget('round-robin', THREE, inputs({ turn })).member).toBe(member);
  });
});

describe('random goes by chance alone', () => {
  test.each([
    [0, 'a'],
    [0.34, 'b'],
    [0.999, 'c'],
  ])('%d is %s', (chance, member) => {
    const load = { a: 0, b: 100, c: 100 };
    expect(pickTarget('random', THREE, inputs({ load, random: () => chance })).member).toBe(member);
  });
});

describe('least-sessions takes the least loaded, and chance decides a tie', () => {
  test.each<[Record<string, number>, number, string]>([
    [{ a: 3, b: 1, c: 2 }, 0.999, 'b'],
    [{ a: 3, b: 2, c: 1 }, 0, 'c'],
    [{ a: 0, b: 1, c: 1 }, 0.999, 'a'],
    [{ a: 1, b: 1, c: 9 }, 0, 'a'],
    [{ a: 1, b: 1, c: 9 }, 0.5, 'b'],
    [{ a: 9, b: 1, c: 1 }, 0.5, 'c'],
    [{ a: 0, b: 0, c: 0 }, 0.5, 'b'],
  ])('%j with chance %d is %s', (load, chance, member) => {
    expect(pickTarget('least-sessions', THREE, inputs({ load, random: () => chance })).member).toBe(member);
  });
});

test.each(['round-robin', 'random', 'least-sessions'] as const)('%s: the only target is the one', (balance) => {
  expect(pickTarget(balance, [target('a')], inputs({ turn: 7, random: () => 0.99 })).member).toBe('a');
});

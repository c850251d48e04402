// Picks stay within the targets, follow the weights, and never give more to a member that already has more.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickTarget, rampedShare } from '../../../src/core/balance.ts';
import type { Credits } from '../../../src/core/balance.ts';
import type { Balance } from '../../../src/model/policy.ts';
import type { Target } from '../../../src/core/routing-table.ts';

interface Place {
  readonly weight: number;
  readonly load: number;
  readonly isFar: boolean;
}

const BALANCES: readonly Balance[] = ['least_sessions', 'latency', 'random', 'round_robin', 'client_address'];
const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const weights = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.double({ min: 0.01, max: 100, noNaN: true }));
const places = fc.array(fc.record({ weight: weights, load: fc.nat({ max: 20 }), isFar: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

function targetsOf(given: readonly Place[]): readonly [Target, ...Target[]] {
  const [first, ...rest] = given.map(({ weight, isFar }, index): Target => {
    return { member: `${index}`, address: { host: 'h', port: index }, weight, ...(isFar ? { isFar } : {}) };
  });
  if (first === undefined) throw new Error('at least one place');
  return [first, ...rest];
}

function pick(balance: Balance, given: readonly Place[], chance: number, credits: Credits = new Map()) {
  return pickTarget(balance, targetsOf(given), {
    sessionsOn: (member) => given[Number(member)]?.load ?? 0,
    weightOf: ({ weight }) => weight ?? 1,
    random: () => chance,
    credits,
    clientAddress: `10.0.0.${chance}`,
  });
}

/** Adds `count` sessions one after the other; no session ends. */
function fill(balance: Balance, given: readonly Place[], count: number, chanceOf: (turn: number) => number): number[] {
  const loads = given.map(() => 0);
  let credits: Credits = new Map();
  for (let turn = 0; turn < count; turn += 1) {
    const now = given.map((place, index) => ({ ...place, load: loads[index] ?? 0 }));
    const picked = pick(balance, now, chanceOf(turn), credits);
    credits = picked.credits;
    loads[Number(picked.target.member)] = (loads[Number(picked.target.member)] ?? 0) + 1;
  }
  return loads;
}

test('a pick is one of the targets, and a far one only if no target is near', () => {
  fc.assert(
    fc.property(fc.constantFrom(...BALANCES), places, chances, (balance, given, chance) => {
      const { target } = pick(balance, given, chance);
      expect(targetsOf(given)).toContainEqual(target);
      if (given.some(({ isFar }) => !isFar)) expect(target.isFar).toBeUndefined();
    }),
  );
});

test('least_sessions: no other target has less load for its weight', () => {
  fc.assert(
    fc.property(places, chances, (given, chance) => {
      const near = given.some(({ isFar }) => !isFar) ? given.filter(({ isFar }) => !isFar) : given;
      const loads = near.map(({ load, weight }) => load / weight);
      const picked = given[Number(pick('least_sessions', given, chance).target.member)];
      expect((picked?.load ?? 0) / (picked?.weight ?? 1)).toBe(Math.min(...loads));
    }),
  );
});

test('more load never makes a pick more likely', () => {
  // If up to six targets tie, each has the same number of these chances.
  const grid = Array.from({ length: 60 }, (_, index) => (index + 0.5) / 60);
  fc.assert(
    fc.property(
      fc.constantFrom(...BALANCES),
      places,
      fc.nat({ max: 5 }),
      fc.nat({ max: 9 }),
      (balance, given, at, more) => {
        const index = at % given.length;
        const likelihood = (of: readonly Place[]) =>
          grid.filter((chance) => pick(balance, of, chance).target.member === `${index}`).length;
        const heavier = given.map((place, i) => (i === index ? { ...place, load: place.load + more } : place));
        expect(likelihood(heavier)).toBeLessThanOrEqual(likelihood(given));
      },
    ),
  );
});

test('lasting sessions follow the weights: a member deviates by at most one session for each other member', () => {
  const near = places.map((given) => given.map((place) => ({ ...place, isFar: false })));
  fc.assert(
    fc.property(fc.constantFrom('least_sessions' as const, 'round_robin' as const), near, (balance, given) => {
      const count = 300;
      const loads = fill(balance, given, count, () => 0);
      const sum = given.reduce((total, { weight }) => total + weight, 0);
      for (const [index, { weight }] of given.entries()) {
        expect(Math.abs((loads[index] ?? 0) - (count * weight) / sum)).toBeLessThanOrEqual(given.length);
      }
    }),
  );
});

test('random: each member has its share of the chances', () => {
  const near = places.map((given) => given.map((place) => ({ ...place, isFar: false })));
  fc.assert(
    fc.property(near, (given) => {
      const count = 1000;
      const loads = fill('random', given, count, (turn) => (turn + 0.5) / count);
      const sum = given.reduce((total, { weight }) => total + weight, 0);
      for (const [index, { weight }] of given.entries()) {
        expect(Math.abs((loads[index] ?? 0) - (count * weight) / sum)).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('round_robin gives equal members the same number of turns, also after members join or leave', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }), (sizes) => {
      let credits: Credits = new Map();
      for (const size of sizes) {
        const given = Array.from({ length: size }, () => ({ weight: 1, load: 0, isFar: false }));
        const turns: string[] = [];
        for (let turn = 0; turn < size * 4; turn += 1) {
          const picked = pick('round_robin', given, 0, credits);
          credits = picked.credits;
          turns.push(picked.target.member);
        }
        // The first round may still even out turns that were due when the other members left.
        for (const index of given.keys()) {
          const own = turns.slice(size).filter((member) => member === `${index}`);
          expect(Math.abs(own.length - 3)).toBeLessThanOrEqual(1);
        }
        expect(credits.size).toBe(size);
      }
    }),
  );
});

test('the share of a member in slow start grows with time, is never zero and never above the whole', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat({ max: 60_000 }), (one, other, slowStartMs) => {
      const [early, late] = [Math.min(one, other), Math.max(one, other)];
      const [before, after] = [rampedShare(early, slowStartMs), rampedShare(late, slowStartMs)];
      expect(before).toBeGreaterThan(0);
      expect(after).toBeGreaterThanOrEqual(before);
      expect(rampedShare(slowStartMs, slowStartMs)).toBe(1);
    }),
  );
});

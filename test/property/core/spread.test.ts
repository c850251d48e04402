// Spreading gives a member that came back its share, stops there, and never goes back and forth, whatever sessions come
// and go meanwhile.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOwed, maySpread, planSpread } from '../../../src/core/spread.ts';
import type { SpreadMember } from '../../../src/core/spread.ts';

const weights = fc.oneof(
  fc.constant(1),
  fc.integer({ min: 1, max: 10 }),
  fc.double({ min: 0.1, max: 10, noNaN: true }),
);
const members = fc
  .array(
    fc.record({
      sessions: fc.nat({ max: 60 }),
      weight: weights,
      isFar: fc.option(fc.constant(true as const), { nil: undefined }),
      isSuspect: fc.option(fc.constant(true as const), { nil: undefined, freq: 5 }),
      isOwed: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((all) => all.map((one, at): SpreadMember => ({ ...one, member: `${at}`, mayLeave: one.sessions })));

function carriedOut(before: readonly SpreadMember[], limit: number): readonly SpreadMember[] {
  const loads = new Map(before.map(({ member, sessions }) => [member, sessions]));
  for (const { from, to } of planSpread(before, limit)) {
    loads.set(from, (loads.get(from) ?? 0) - 1);
    loads.set(to, (loads.get(to) ?? 0) + 1);
  }
  return before.map((one) => {
    const sessions = loads.get(one.member) ?? 0;
    return { ...one, sessions, mayLeave: sessions };
  });
}

const near = (all: readonly SpreadMember[]): readonly SpreadMember[] => {
  const own = all.filter(({ isFar }) => isFar === undefined);
  return own.some(({ isSuspect }) => isSuspect === undefined) ? own : all;
};

test('a plan keeps the limit, and takes only what may leave', () => {
  fc.assert(
    fc.property(members, fc.nat({ max: 20 }), fc.nat({ max: 5 }), (all, limit, mayLeave) => {
      const shifts = planSpread(
        all.map((one) => ({ ...one, mayLeave: Math.min(one.sessions, mayLeave) })),
        limit,
      );
      expect(shifts.length).toBeLessThanOrEqual(limit);
      for (const { member } of all) {
        expect(shifts.filter(({ from }) => from === member).length).toBeLessThanOrEqual(mayLeave);
      }
    }),
  );
});

test('only a member that is owed sessions gets any, and none that missed a probe takes part', () => {
  fc.assert(
    fc.property(members, (all) => {
      const byName = new Map(all.map((one) => [one.member, one]));
      for (const { from, to } of planSpread(all, 1_000)) {
        expect(byName.get(to)?.isOwed).toBe(true);
        expect([byName.get(to)?.isSuspect, byName.get(from)?.isSuspect]).toEqual([undefined, undefined]);
        expect(near(all)).toContain(byName.get(to));
      }
    }),
  );
});

test('it converges: what is carried out asks for nothing more, whatever the pace', () => {
  fc.assert(
    fc.property(members, fc.integer({ min: 1, max: 7 }), (all, pace) => {
      expect(planSpread(carriedOut(all, 10_000), 10_000)).toEqual([]);
      let now: readonly SpreadMember[] = all;
      for (let step = 0; step < 400; step += 1) now = carriedOut(now, pace);
      expect(planSpread(now, 10_000)).toEqual([]);
    }),
  );
});

test('a member that came back has its share afterwards, to one session and the weight of one', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 400 }), weights), { minLength: 2, maxLength: 6 }), (given) => {
      const all = given.map(([sessions, weight], at): SpreadMember => {
        return { member: `${at}`, sessions: at === 0 ? 0 : sessions, weight, isOwed: at === 0, mayLeave: sessions };
      });
      const [back, ...others] = carriedOut(all, 10_000);
      const sum = others.reduce((total, { weight }) => total + weight, back?.weight ?? 0);
      const total = all.reduce((sessions, one) => sessions + one.sessions, 0);
      const share = (total * (back?.weight ?? 0)) / sum;
      // The other members may differ among each other. None gives more than it has over its share.
      const most = Math.max(...others.map(({ sessions, weight }) => (sessions - 1) / weight));
      const enough = Math.min(Math.ceil(share), most * (back?.weight ?? 0));
      expect((back?.sessions ?? 0) + 1).toBeGreaterThan(enough);
      expect(back?.sessions).toBeLessThanOrEqual(Math.ceil(share));
    }),
  );
});

test('members that are open from the beginning move nobody, whatever sessions come and go', () => {
  fc.assert(
    fc.property(members, fc.nat({ max: 86_400_000 }), (all, now) => {
      const opening = { openedAt: -Infinity, givenFor: undefined };
      const quiet = all.map((one) => ({ ...one, isOwed: isOwed(opening, 30_000, now) }));
      expect(planSpread(quiet, 1_000)).toEqual([]);
    }),
  );
});

interface Moved {
  at: number;
  movedAt: number | undefined;
}

test('sessions come and go while a member goes away and comes back: none moves twice in 10 minutes', () => {
  const turns = fc.array(
    fc.record({ kind: fc.constantFrom('come', 'go', 'flap', 'wait'), where: fc.nat({ max: 2 }) }),
    {
      minLength: 50,
      maxLength: 400,
    },
  );
  fc.assert(
    fc.property(turns, fc.nat({ max: 60_000 }), (history, slowStartMs) => {
      const sessions: Moved[] = [];
      const openedAt = [-Infinity, -Infinity, -Infinity];
      const givenFor: (number | undefined)[] = [undefined, undefined, undefined];
      let now = 0;
      for (const { kind, where } of history) {
        now += 3_000;
        if (kind === 'come') sessions.push({ at: where, movedAt: undefined });
        if (kind === 'go') sessions.splice(0, 1);
        if (kind === 'flap') {
          for (const one of sessions) if (one.at === where) one.at = (where + 1) % 3;
          openedAt[where] = now;
        }
        const may = (at: number): Moved[] => sessions.filter((one) => one.at === at && maySpread(one.movedAt, now));
        const all = openedAt.map((opened, at): SpreadMember => {
          const owed = isOwed({ openedAt: opened, givenFor: givenFor[at] }, slowStartMs, now);
          const count = sessions.filter((one) => one.at === at).length;
          return { member: `${at}`, sessions: count, weight: 1, isOwed: owed, mayLeave: may(at).length };
        });
        const shifts = planSpread(all, 5);
        if (shifts.length === 0)
          for (const [at, { isOwed: owed }] of all.entries()) if (owed) givenFor[at] = openedAt[at];
        for (const { from, to } of shifts) {
          const [one] = may(Number(from));
          expect(one === undefined ? undefined : now - (one.movedAt ?? -Infinity)).toBeGreaterThanOrEqual(600_000);
          if (one !== undefined) [one.at, one.movedAt] = [Number(to), now];
        }
      }
    }),
  );
});

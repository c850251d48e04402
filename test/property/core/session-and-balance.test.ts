import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickTarget } from '../../../src/core/balance.ts';
import { parseCheck, parseSize } from '../../../src/core/check.ts';
import { nextSessionState, SESSION_EVENTS, SESSION_STATES } from '../../../src/core/session-state.ts';
import type { SessionState } from '../../../src/core/session-state.ts';

test('every session state reaches `closed`, `closed` absorbs', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SESSION_STATES), fc.array(fc.constantFrom(...SESSION_EVENTS)), (start, events) => {
      let state: SessionState = start;
      let wasClosed = start === 'closed';
      for (const event of events) {
        state = nextSessionState(state, event) ?? state;
        if (wasClosed) expect(state).toBe('closed');
        wasClosed = state === 'closed';
      }
      expect(nextSessionState(state, 'close')).toBe('closed');
    }),
  );
});

test('a session never relays without having dialed, and never twice', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...SESSION_EVENTS), { maxLength: 12 }), (events) => {
      let state: SessionState = 'startup';
      const path: SessionState[] = [state];
      for (const event of events) {
        state = nextSessionState(state, event) ?? state;
        if (state !== path.at(-1)) path.push(state);
      }
      expect(path.filter((seen) => seen === 'relaying').length).toBeLessThanOrEqual(1);
      const relaying = path.indexOf('relaying');
      if (relaying >= 0) expect(path[relaying - 1]).toBe('dialing');
    }),
  );
});

test('a pick is one of the targets, and by least sessions none has fewer', () => {
  const loads = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const balances = fc.constantFrom('least-sessions' as const, 'random' as const, 'round-robin' as const);
  fc.assert(
    fc.property(balances, loads, chance, fc.nat(), (balance, load, random, turn) => {
      const [first, ...rest] = load.map((_, index) => ({ member: `${index}`, address: { host: 'h', port: index } }));
      if (first === undefined) return;
      const sessionsOn = (member: string) => load[Number(member)] ?? 0;
      const picked = pickTarget(balance, [first, ...rest], { sessionsOn, random: () => random, turn });
      expect([first, ...rest]).toContain(picked);
      if (balance === 'least-sessions') expect(sessionsOn(picked.member)).toBe(Math.min(...load));
    }),
  );
});

test('round-robin gives each target the same number of turns', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.nat({ max: 1000 }), (count, start) => {
      const [first, ...rest] = Array.from({ length: count }, (_, index) => ({
        member: `${index}`,
        address: { host: 'h', port: index },
      }));
      if (first === undefined) return;
      const turns = Array.from({ length: count * 3 }, (_, index) => start + index);
      const inputs = { sessionsOn: () => 0, random: () => 0 };
      const picks = turns.map((turn) => pickTarget('round-robin', [first, ...rest], { ...inputs, turn }).member);
      for (const { member } of [first, ...rest]) expect(picks.filter((pick) => pick === member).length).toBe(3);
    }),
  );
});

test('reading a check never throws, and its canonical text reads as itself', () => {
  const words = fc.constantFrom(
    '/primary',
    '/replica',
    '/readiness',
    'lag',
    'tag_zone',
    'mode',
    '=',
    '&',
    '?',
    '16MB',
    'a b',
    '%',
    '+',
    'apply',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(words, { maxLength: 9 }).map((parts) => parts.join('')),
        fc.string(),
      ),
      (text) => {
        const parsed = parseCheck(text);
        if (parsed.kind === 'invalid') expect(parsed.message).not.toBe('');
        else expect(parseCheck(parsed.check.text)).toEqual(parsed);
      },
    ),
    { numRuns: 1000 },
  );
});

test('a size is never negative, fractional or beyond exact numbers', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.tuple(fc.double(), fc.constantFrom('', 'B', 'kB', 'MB', 'GB', 'TB')).map(([n, unit]) => `${n}${unit}`),
      ),
      (text) => {
        const bytes = parseSize(text);
        if (bytes !== undefined) expect(Number.isSafeInteger(bytes) && bytes >= 0).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});

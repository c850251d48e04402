import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCheck, parseSize } from '../../../src/model/check.ts';
import { nextSessionState, SESSION_EVENTS, SESSION_STATES } from '../../../src/reports/session-state.ts';
import type { SessionState } from '../../../src/reports/session-state.ts';

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

test('a session relays only after a dial, and again only after a park and a login', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...SESSION_EVENTS), { maxLength: 12 }), (events) => {
      let state: SessionState = 'startup';
      const path: SessionState[] = [state];
      for (const event of events) {
        state = nextSessionState(state, event) ?? state;
        if (state !== path.at(-1)) path.push(state);
      }
      const relays = path.flatMap((seen, index) => (seen === 'relaying' ? [index] : []));
      for (const [nth, index] of relays.entries()) expect(path[index - 1]).toBe(nth === 0 ? 'dialing' : 'moving');
      for (const [index, seen] of path.entries()) {
        if (seen === 'parked') expect(['relaying', 'moving']).toContain(path[index - 1]);
      }
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

// The reasons why sessions cannot move, in words.
import { expect, test } from 'vitest';
import { staysText } from '../../../src/core/pin-words.ts';
import { PIN_REASONS } from '../../../src/model/moves.ts';

test('the most frequent reason comes first, and the words agree with the number', () => {
  expect(staysText({ temporary_objects: 1, listening: 12, advisory_locks: 3 })).toBe(
    '12 listen, 3 hold advisory locks, 1 has temporary objects',
  );
  expect(staysText({})).toBe('');
});

test.each(PIN_REASONS)('%s has words', (reason) => {
  expect(staysText({ [reason]: 1 })).toMatch(/^1 [a-z]/);
  expect(staysText({ [reason]: 2 })).toMatch(/^2 [a-z]/);
});

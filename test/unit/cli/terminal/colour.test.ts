// Where output has colour.
import { expect, test } from 'vitest';
import { paintFor } from '../../../../src/cli/terminal/colour.ts';

const SCREEN = { size: () => ({ columns: 80, rows: 24 }) };
const isPainted = (env: Record<string, string>, screen?: typeof SCREEN): boolean =>
  paintFor({ env, ...(screen && { screen }) })('bad', 'refused') !== 'refused';

test.each([
  ['a terminal', {}, SCREEN, true],
  ['a pipe', {}, undefined, false],
  ['NO_COLOR', { NO_COLOR: '1' }, SCREEN, false],
  ['an empty NO_COLOR, which counts as not set', { NO_COLOR: '' }, SCREEN, true],
  ['TERM=dumb', { TERM: 'dumb' }, SCREEN, false],
  ['FORCE_COLOR in a pipe', { FORCE_COLOR: '1' }, undefined, true],
  ['FORCE_COLOR against NO_COLOR', { FORCE_COLOR: '', NO_COLOR: '1' }, SCREEN, true],
  ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, SCREEN, false],
])('%s', (_, env, screen, expected) => {
  expect(isPainted(env, screen)).toBe(expected);
});

test('a style ends with its text', () => {
  const paint = paintFor({ env: {}, screen: SCREEN });
  expect(paint('good', 'yes')).toBe('\u001B[32myes\u001B[39m');
  expect(paint('strong', 'yes')).toBe('\u001B[1myes\u001B[22m');
});

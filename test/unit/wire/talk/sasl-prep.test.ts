import { expect, test } from 'vitest';
import { preparedPassword } from '../../../../src/wire/talk/sasl-prep.ts';

test.each([
  ['plain ASCII stays', 'a b~\t', 'a b~\t'],
  ['one form for each character', 'u\u0308\u2168', '\u00fcIX'],
  ['other spaces', 'a\u00a0b\u3000c', 'a b c'],
  ['characters that stand for nothing', 'a\u00adb\ufeffc', 'abc'],
])('%s', (_, password, prepared) => {
  expect(preparedPassword(password)).toBe(prepared);
});

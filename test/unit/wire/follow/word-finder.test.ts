import { describe, expect, it } from 'vitest';
import { finderOf } from '../../../../src/wire/follow/word-finder.ts';

/** Behind another text, and before one. */
function endIn(text: string, end = text.length + 3): number {
  const find = finderOf(['set', 'reset', 'offset_x', 'session_setup', 'u&"', 'redo_log', 'do$', 'go$']);
  const bytes = Buffer.from(`;\0${text}\0 reset\0`, 'latin1');
  return find(bytes, 2, 2 + end);
}

const endOf = (text: string): number => 2 + text.length;

describe('a text with one of the words', () => {
  it.each([
    'set x = 1',
    'SeT',
    'offset 5',
    'a session_ses session_setup',
    'rerese reset',
    'sseset',
    'U&"a"',
    'a u& u&"',
    'do $$ $$',
    'DO\n$$',
    "undo'x'",
    'a; do',
    'do\xe9',
    'dodo ',
    'redo it',
    'go',
    'do"q"',
    'GO&',
  ])('is found: %j', (text) => {
    expect(endIn(text)).toBe(-1);
  });
});

describe('a text without them', () => {
  it.each([
    '',
    'select 1',
    'se t',
    's\xe9t',
    'domain',
    'u&\x02a',
    'going redo_lo',
    'dow _do_ do1',
    'u & "',
    'session_se',
    'SESSION_S',
    'sess',
    'rese',
  ])('ends with its NUL: %j', (text) => {
    expect(endIn(text)).toBe(endOf(text));
  });

  it('has no end before the bytes that are shown do', () => {
    expect(endIn('select 1', 8)).toBe(-1);
    expect(endIn('select 1', 9)).toBe(endOf('select 1'));
  });
});

it('as well when its bytes are no letters in another case', () => {
  // 0x13, 0x05 and 0x14 are "set" without the bits that make letters of them.
  expect(endIn('\x13\x05\x14')).toBe(endOf('set'));
});

// How the text of a query becomes statements.
import { expect, test } from 'vitest';
import { statementsOf } from '../../../src/console/statements.ts';

const wordsOf = (query: string): readonly (readonly string[])[] => statementsOf(query).map(({ words }) => words);

test.each<[string, readonly (readonly string[])[]]>([
  ['SHOW POOLS', [['SHOW', 'POOLS']]],
  ['show pools;', [['SHOW', 'POOLS']]],
  [
    ' \n Show\tPools ; ; show stats;; ',
    [
      ['SHOW', 'POOLS'],
      ['SHOW', 'STATS'],
    ],
  ],
  ['', []],
  [';', []],
  ['-- nothing', []],
  ['/* nothing', []],
  ['-- a comment\nshow/* and /* one */ more */pools--end', [['SHOW', 'POOLS']]],
  ['set a.b = 5', [['SET', 'A.B', '=', '5']]],
  [
    "kill 'a;b''; c'; show pools",
    [
      ['KILL', "'a;b''; c'"],
      ['SHOW', 'POOLS'],
    ],
  ],
  [
    'kill "a;""b"; show pools',
    [
      ['KILL', '"a;""b"'],
      ['SHOW', 'POOLS'],
    ],
  ],
  [
    'select $$a;b$$, $x$;$y$;$x$; show pools',
    [
      ['SELECT', '$$a;b$$', ',', '$x$;$y$;$x$'],
      ['SHOW', 'POOLS'],
    ],
  ],
  ["kill 'never closed; show pools", [['KILL', "'never closed; show pools"]]],
  [
    'select $1; show pools',
    [
      ['SELECT', '$', '1'],
      ['SHOW', 'POOLS'],
    ],
  ],
  ['a b c d e f g h', [['A', 'B', 'C', 'D', 'E', 'F']]],
])('%j', (query, words) => {
  expect(wordsOf(query)).toEqual(words);
});

test('the text of a statement is on one line, without comments, and cut', () => {
  expect(statementsOf('do\n /* x */ it  now')[0]?.text).toBe('do it now');
  expect(statementsOf(`do ${'x'.repeat(200)}`)[0]?.text).toBe(`do ${'x'.repeat(77)}…`);
});

// Help fits the terminal, and its examples can be copied.
import { expect, test } from 'vitest';
import { helpWithin } from '../../../src/cli/help-text.ts';

const EXAMPLE = '  pointsman drain a-member-with-a-long-name';
const TEXT = `Usage: pointsman x
One paragraph of text that is
written on two lines.
Exit codes: 0 all is well, 1 a failure, 2 wrong usage.

  --long <name>  a description that is too long
  plain words that are indented by two columns
  short

Examples:
${EXAMPLE}
`;

test('paragraphs are filled, lists keep their columns, examples stay whole', () => {
  expect(helpWithin(30, TEXT)).toBe(`Usage: pointsman x One
paragraph of text that is
written on two lines.
Exit codes: 0 all is well, 1 a
failure, 2 wrong usage.

  --long <name>  a description
                 that is too
                 long
  plain words that are
    indented by two columns
  short

Examples:
${EXAMPLE}
`);
});

test('a word that is too long stays whole', () => {
  expect(helpWithin(10, 'see https://example.com/page now\n')).toBe('see\nhttps://example.com/page\nnow\n');
});

test('an indented line keeps the blank behind a word of two letters', () => {
  expect(helpWithin(20, '  If a member is the leader of it\n')).toBe('  If a member is the\n     leader of it\n');
});

test('a terminal that is narrower than the names has a word a line', () => {
  expect(helpWithin(10, '  --long <name>  a text\n')).toBe('  --long <name>  a\n                 text\n');
});

test('text that fits is left as it is', () => {
  const text = 'Usage: x\n\nOptions:\n  -h  help\n\n';
  expect(helpWithin(80, text)).toBe(text);
});

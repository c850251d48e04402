// `npm run simulate:broken` takes lines out of the program: a change of the program must not leave one of them behind.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LOAD_BEARING_LINES } from '../simulation/broken/lines.ts';

test.each(LOAD_BEARING_LINES)('$file has the line of "$name" exactly once', ({ file, line, without }) => {
  const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  expect(text.split(line)).toHaveLength(2);
  expect(without).not.toBe(line);
});

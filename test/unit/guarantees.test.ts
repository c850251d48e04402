// src/guarantees.md is the contract. It states every number in code, tests and documents. Each test that it names
// exists and has the guarantee in a title.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GUARANTEES } from '../support/runner/scenarios.ts';
import { namingTitles } from '../support/runner/test-titles.ts';

const TOP = new URL('../..', import.meta.url).pathname;
const TEXT = readFileSync(join(TOP, 'src/guarantees.md'), 'utf8');
const STATED = [...TEXT.matchAll(/^\| G(\d+) +\|/gm)].map(([, number]) => Number(number));
const HELD = [...TEXT.matchAll(/^- G(\d+): ((?:`test\/[^`]+\.test\.ts`,?\s*)+)/gm)].map(([, number, files = '']) => ({
  number: Number(number),
  files: [...files.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = '']) => file),
}));

test('the page states every guarantee once, and names tests for each', () => {
  expect(STATED).toEqual([...GUARANTEES.keys()]);
  expect(HELD.map(({ number }) => number)).toEqual(STATED);
});

test('the tests on the page exist, and have the guarantee in a title', () => {
  const titles = namingTitles();
  const wrong = HELD.flatMap(({ number, files }) =>
    files
      .filter((file) => !existsSync(join(TOP, file)) || !titles.some((t) => isOf(t.file, file, t.guarantees, number)))
      .map((file) => `G${number}: ${file}`),
  );
  expect(wrong).toEqual([]);
});

test('every number in the repository is on the page', () => {
  const files = globSync(['README.md', '{src,test,config,deploy}/**/*.{ts,md,yaml}'], { cwd: TOP });
  const unknown = files.flatMap((file) =>
    [...readFileSync(join(TOP, file), 'utf8').matchAll(/\bG(\d{1,2})\b/g)]
      .filter(([, number]) => !STATED.includes(Number(number)))
      .map(([cited]) => `${file}: ${cited}`),
  );
  expect(unknown).toEqual([]);
});

function isOf(titleFile: string, file: string, guarantees: readonly number[], number: number): boolean {
  return `test/${titleFile}` === file && guarantees.includes(number);
}

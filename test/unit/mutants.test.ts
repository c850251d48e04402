// The report of a run with mutants, as `npm run mutants` reads it.
import { expect, test } from 'vitest';
import { readReport, scoreOf, unexplained } from '../mutation/report.ts';

const SOURCE = 'const a = 1;\nif (a > 0 &&\n  a < 2) go();\n';
const at = (line: number, column: number, endLine: number, endColumn: number): object => ({
  start: { line, column },
  end: { line: endLine, column: endColumn },
});
const MUTANTS = [
  { id: '0', status: 'Killed', replacement: 'false', location: at(2, 5, 3, 8) },
  { id: '1', status: 'Survived', replacement: 'go(\n  a\n)', location: at(2, 5, 3, 8) },
  { id: '2', status: 'NoCoverage', replacement: '', location: at(3, 10, 3, 15) },
  { id: '3', status: 'Timeout', replacement: 'a <= 2', location: at(3, 3, 3, 8) },
  { id: '4', status: 'CompileError', replacement: 'x', location: at(1, 1, 1, 2) },
];
const REPORT = JSON.stringify({ files: { 'src/core/a.ts': { source: SOURCE, mutants: MUTANTS } } });
const RESULTS = readReport(REPORT, 1);

test('a mutant that no test failed is named by its code, and one that is no program is not counted', () => {
  expect(RESULTS).toEqual([
    {
      file: 'src/core/a.ts',
      mutants: 4,
      alive: [
        { file: 'src/core/a.ts', line: 2, code: 'a > 0 && a < 2', mutant: 'go( a )' },
        { file: 'src/core/a.ts', line: 3, code: 'go();', mutant: '' },
      ],
    },
  ]);
  expect(scoreOf(RESULTS)).toBe(50);
});

test('of a sample, the others do not count, be they tried or not', () => {
  const [file] = readReport(REPORT, 2);
  expect(file).toMatchObject({ mutants: 2, alive: [{ code: 'go();' }] });
});

test('a survivor with a reason is not told', () => {
  const known = { file: 'src/core/a.ts', code: 'a > 0 && a < 2', mutant: 'go( a )', why: 'a is one' };
  expect(unexplained(RESULTS, [known]).map(({ code }) => code)).toEqual(['go();']);
  expect(unexplained(RESULTS, [{ ...known, file: 'src/core/b.ts' }])).toHaveLength(2);
});

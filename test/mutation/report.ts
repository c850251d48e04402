// Stryker's report: how many mutants died, and the code of those that did not.
import { z } from 'zod';
import type { Survivor } from './survivors.ts';

const position = z.object({ line: z.number(), column: z.number() });
const place = z.object({ start: position, end: position });
const mutant = z.object({
  id: z.string(),
  status: z.string(),
  replacement: z.string().default(''),
  location: place,
});
const report = z.object({ files: z.record(z.string(), z.object({ source: z.string(), mutants: z.array(mutant) })) });

export type Place = z.infer<typeof place>;

/** A mutant that no test failed. */
export interface Alive extends Omit<Survivor, 'why'> {
  readonly line: number;
}

export interface FileResult {
  readonly file: string;
  readonly mutants: number;
  readonly alive: readonly Alive[];
}

const DEAD = ['Killed', 'Timeout'];
const ALIVE = ['Survived', 'NoCoverage'];

/** By file, of each `every`th mutant. Mutants that are no program are not counted. */
export function readReport(text: string, every: number): readonly FileResult[] {
  const { files } = report.parse(JSON.parse(text));
  return Object.entries(files).map(([file, { source, mutants: all }]) => {
    const mutants = all.filter(({ id, status }) => Number(id) % every === 0 && [...DEAD, ...ALIVE].includes(status));
    const alive = mutants
      .filter(({ status }) => ALIVE.includes(status))
      .map((one) => ({
        file,
        line: one.location.start.line,
        code: replaced(source, one.location),
        mutant: one.replacement.replaceAll(/\n\s*/g, ' '),
      }));
    return { file, mutants: mutants.length, alive };
  });
}

/** The share of the mutants that died, in percent. */
export function scoreOf(results: readonly FileResult[]): number {
  const [all, alive] = [sum(results.map(({ mutants }) => mutants)), sum(results.map((result) => result.alive.length))];
  return all === 0 ? 100 : (100 * (all - alive)) / all;
}

/** The survivors for which nobody has given a reason. */
export function unexplained(results: readonly FileResult[], known: readonly Survivor[]): readonly Alive[] {
  return results
    .flatMap(({ alive }) => alive)
    .filter((one) => !known.some(({ file, code, mutant: own }) => sameMutant({ file, code, mutant: own }, one)));
}

function sameMutant(a: Omit<Survivor, 'why'>, b: Omit<Survivor, 'why'>): boolean {
  return a.file === b.file && a.code === b.code && a.mutant === b.mutant;
}

/** Columns and lines begin with 1, the end is behind the last character. */
export function replaced(source: string, { start, end }: Place): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const cut = lines.map((line, index) => (index === lines.length - 1 ? line.slice(0, end.column - 1) : line));
  return cut.map((line, index) => (index === 0 ? line.slice(start.column - 1) : line.trim())).join(' ');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

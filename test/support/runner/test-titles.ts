// The titles of all tests that name a scenario or a guarantee, read from the sources. vitest itself collects only what
// this machine can run, and takes as long as all other unit tests. Relies on the formatter: a block begins in column 0.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = new URL('../..', import.meta.url).pathname;

export interface NamingTitle {
  readonly file: string;
  readonly title: string;
  readonly scenarios: readonly number[];
  readonly guarantees: readonly number[];
  readonly runsOnPatroni: boolean;
}

/** A text in quotes that begins by naming: only titles do. */
const NAMING_TEXT = /(['"`])((?:scenarios? \d|G\d)[^\n]*?)\1/g;
/** `scenarios 10, 11: `, `G4: `, `scenario 14, G20: `. */
const NAMES = /^(?:scenarios? \d+(?:, \d+)*|G\d+)(?:, (?:scenarios? \d+|G\d+|\d+))*: \S/;
const PATRONI_BLOCK = /^describeOn(?:Patroni|EveryCluster)\b/;
const SKIPPED = /\b(?:it|test|describe)\.(?:skip|todo|fails|only)\b/;

export function namingTitles(): readonly NamingTitle[] {
  return testFiles().flatMap(({ file, text }) => titlesIn(file, text));
}

/** Texts in quotes that speak of rows, scenarios or guarantees in another way than titles have to. */
export function misnamed(): readonly string[] {
  return testFiles().flatMap(({ file, text }) => {
    const titles = [...text.matchAll(NAMING_TEXT)].flatMap(([, , title = '']) => (NAMES.test(title) ? [] : title));
    const others = [...text.matchAll(/(['"`])((?:rows?|Scenarios?) \d[^\n]*?)\1/g)].map(([, , title = '']) => title);
    return [...titles, ...others].map((title) => `${file}: ${title}`);
  });
}

/** Tests that are switched off name nothing. */
export function switchedOff(): readonly string[] {
  return testFiles().flatMap(({ file, text }) => (SKIPPED.test(text) ? [file] : []));
}

export function titlesIn(file: string, text: string): readonly NamingTitle[] {
  return [...text.matchAll(NAMING_TEXT)].flatMap(({ 2: title = '', index }) => {
    if (!NAMES.test(title)) return [];
    const names = title.slice(0, title.indexOf(': '));
    const guarantees = [...names.matchAll(/G(\d+)/g)].map(([, number]) => Number(number));
    const scenarios = [...names.matchAll(/(?<!G|\d)\d+/g)].map(([number]) => Number(number));
    return [{ file, title, scenarios, guarantees, runsOnPatroni: PATRONI_BLOCK.test(blockAround(text, index)) }];
  });
}

/** The first line of the outermost block that the place is in. */
function blockAround(text: string, index: number): string {
  const before = text.slice(0, index).split('\n');
  return before.findLast((line) => /^\w/.test(line)) ?? '';
}

/** All but the one that holds the titles to the list: it has samples of them. */
function testFiles(): readonly { readonly file: string; readonly text: string }[] {
  const files = globSync('**/*.test.ts', { cwd: TESTS }).filter((file) => file !== 'unit/scenarios.test.ts');
  return files.map((file) => ({ file, text: readFileSync(join(TESTS, file), 'utf8') }));
}

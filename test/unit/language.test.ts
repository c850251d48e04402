// Plain English, held by rules: no invented words where the field has one, no sentence with a bare "who" or "what" as
// its subject, and lines of at most 120 columns (tables, links and code blocks excepted). Names say what a thing is
// without their place: few types and files share one.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const TOP = new URL('../..', import.meta.url).pathname;
const COLUMNS = 120;

/** Each with the word to use. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\b(?:whoever|whom|whomever)\b/i, 'a noun'],
  [/\bsmell(?:s|ed|ing)?\b|\bsniff(?:s|ed|ing)?\b/i, 'trigger'],
  [/\bcrews?\b/i, 'supervisor'],
  [/\bvisitors?\b/i, 'over-limit connection'],
  [/\bnewcomers?\b/i, 'slow start'],
  [/\bseats?\b|\bseated\b/i, 'slot'],
  [/\breckonings?\b/i, 'estimate'],
  [/\bdeeds?\b/i, 'actions'],
  [/\brosters?\b/i, 'known members'],
  [/\bask around\b/i, 'query contact points'],
  [/\bset aside\b/i, 'override'],
  [/\bin (?:this|the same|that|one) step\b/i, 'synchronously'],
  [/\bspec 1\b|\/\/.*\bbehaviour: /, 'the management API, or guarantees.md'],
  [/\bdirect[ _-]io\b/i, 'relay pipes'],
  [/^\s*(?:\/\/|\/\*\*|\*) Of |\.describe\('Of /, 'the thing that it is about'],
];

/** A sentence of a comment or of a document that begins so has no noun as its subject. A question may. */
const BARE_SUBJECT = /(?:^|[.:;] )(?:Who|Whose|What)\b[^.?]*(?:[.;:]|$)/;

interface Line {
  readonly place: string;
  readonly text: string;
  readonly isProse: boolean;
}

function linesOf(file: string): readonly Line[] {
  let isCode = false;
  return readFileSync(join(TOP, file), 'utf8')
    .split('\n')
    .map((text, index) => {
      if (/^\s*```/.test(text)) isCode = !isCode;
      const isTable = file.endsWith('.md') && /^\s*\||^#/.test(text);
      const isYaml = file.endsWith('.yaml') && !/^\s*#/.test(text);
      const isProse = file.endsWith('.md') ? !isCode : /^\s*(?:\/\/|\/\*\*|\*|#)/.test(text);
      return { place: `${file}:${index + 1}`, text: isCode || isTable || isYaml ? '' : text, isProse };
    });
}

function findings(file: string): readonly string[] {
  return linesOf(file).flatMap(({ place, text, isProse }) => {
    const isLink = /https?:\/\/\S{60,}|\]\(\S{60,}\)/.test(text);
    const sentence = text.replace(/^\s*(?:\/\/|\/\*\*|\*|#|[-*])?\s*/, '');
    return [
      ...(text.length > COLUMNS && !isLink ? [`${place}: ${text.length} columns`] : []),
      ...(isProse && BARE_SUBJECT.test(sentence) ? [`${place}: a bare subject: ${sentence}`] : []),
      ...BANNED.flatMap(([word, use]) => {
        const [found] = word.exec(text) ?? [];
        return found === undefined ? [] : [`${place}: "${found}": say ${use}`];
      }),
    ];
  });
}

const FILES = globSync(['*.md', '{src,test,config,deploy,.github}/**/*.{ts,tsx,css,md,yaml}'], { cwd: TOP }).filter(
  (file) => !file.includes('node_modules') && !file.includes('fixtures') && file !== 'test/unit/language.test.ts',
);

test('files keep to the rules of language', () => {
  expect(FILES.flatMap(findings)).toEqual([]);
});

const SOURCES = globSync('src/**/*.{ts,tsx}', { cwd: TOP });

function repeated(names: readonly string[], times: number): readonly string[] {
  const counts = Map.groupBy(names, (name) => name);
  return [...counts].flatMap(([name, all]) => (all.length < times ? [] : [`${name}: ${all.length}`]));
}

test('every file begins with a comment that says what it is for', () => {
  expect(SOURCES.length).toBeGreaterThan(500);
  expect(SOURCES.filter((file) => !/^(?:#!.*\n)?\/[/*]/.test(readFileSync(join(TOP, file), 'utf8')))).toEqual([]);
});

test('no file name stands in four folders', () => {
  const names = SOURCES.map((file) => basename(file).replace(/\.tsx?$/, ''));
  expect(repeated(names, 4)).toEqual([]);
});

const PARTICIPLE =
  /^(?:[A-Z][a-z]+ed|Asked|Chosen|Done|Found|Given|Gone|Held|Kept|Known|Lost|Made|Read|Seen|Sent|Shown|Sought|Taken|Told|Written)$/;
/** A seed is a noun, `Relayed` a stage of sessions, and programs that embed Pointsman know the others. */
const NOUNS = new Set(['Seed', 'Relayed', 'Created', 'Started']);

test('no type is a participle', () => {
  const types = SOURCES.flatMap((file) => typesIn(file).map((name) => [name, file] as const));
  expect(types.filter(([name]) => PARTICIPLE.test(name) && !NOUNS.has(name))).toEqual([]);
});

test('few types share their name', () => {
  const names = SOURCES.flatMap((file) => [...new Set(typesIn(file))]);
  expect(repeated(names, 2).length).toBeLessThanOrEqual(60);
});

function typesIn(file: string): readonly string[] {
  const text = readFileSync(join(TOP, file), 'utf8');
  return [...text.matchAll(/^(?:export )?(?:declare )?(?:interface|type|class) (\w+)/gm)].map(([, name = '']) => name);
}

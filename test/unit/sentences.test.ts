// No program reads data out of its own sentences: a sentence that is worded better must not break a reader. A pattern
// with words between spaces is for the text of another program.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const TOP = new URL('../../', import.meta.url).pathname;

/** Each reads such a text. A new file belongs here only if the text comes from outside. */
const OUTSIDE: Readonly<Record<string, string>> = {
  'src/admin/problems.ts': 'messages of zod',
  'src/app/open-files.ts': 'the kernel',
  'src/cli/help-text.ts': 'the layout of commander',
  'src/cluster/operation-words.ts': 'answers of Patroni',
  'src/http/exchange-error.ts': 'messages of undici and OpenSSL',
  'src/cli/admin-exchange.ts': 'messages of OpenSSL',
  'src/patroni/credentials.ts': 'a header',
  'src/platform/skill/skill-secrets.ts': 'files of a skill',
  'src/sandbox/branches/base-copy.ts': 'PostgreSQL',
  'src/sandbox/branches/console-api.ts': 'a header',
  'src/sandbox/manager/parameters.ts': 'PostgreSQL',
  'src/sandbox/postgres/postmaster.ts': 'PostgreSQL',
  'src/sandbox/postgres/usable-binaries.ts': 'the dynamic linker',
};

const REGEX = /(?:^|[(,=:[?&|!]|return)\s*\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+)\/[dgimsuvy]*[^\w/]/gm;
const SEARCH =
  /\.(?:includes|startsWith|endsWith|split|replace|replaceAll|indexOf)\(\s*(['`])((?:(?!\1)[^\\\n]|\\.)*)\1/g;
const COMMENT = /^\s*(?:\/\/|\*|\/\*\*).*$/gm;
/** A word beside a space. */
const WORDS = /[a-z]{2,}\)? (?:[a-z(\\[]|$)|[^a-z ] [a-z]{2,}/;

function readsSentences(text: string): boolean {
  const patterns = [...text.replaceAll(COMMENT, '').matchAll(REGEX)].map(([, pattern = '']) => pattern);
  const literals = [...text.matchAll(SEARCH)].map(([, , literal = '']) => literal);
  return [...patterns, ...literals].some((one) => WORDS.test(one));
}

test('patterns with words are for the texts of other programs', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: TOP });
  const found = files.filter((file) => readsSentences(readFileSync(`${TOP}${file}`, 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(OUTSIDE).toSorted());
});

test.each([
  String.raw`const [, pool] = /^pools\.(\S+) removed$/.exec(change) ?? [];`,
  String.raw`const found = /answered (\d+) to (\S+)/.exec(why);`,
  'return text.replace(`${name} is `, "");',
  "if (why.startsWith('no eligible member')) return;",
])('%s is one', (line) => {
  expect(readsSentences(line)).toBe(true);
});

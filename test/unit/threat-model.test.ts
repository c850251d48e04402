// The threat model in .github/SECURITY.md: each thing that an actor cannot do has a reason and tests that exist, and
// each secret of the configuration has a row.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const TOP = new URL('../..', import.meta.url).pathname;
const TEXT = readFileSync(join(TOP, '.github/SECURITY.md'), 'utf8');
const ACTORS = [
  'client',
  "a member's API",
  "a member's PostgreSQL",
  'the store',
  "somebody on the clients' network",
  "somebody on the members' network",
  'somebody on the way to the APIs',
  'somebody on the way to the admin port',
  'another local user',
  'reader',
  'operator',
  'supply chain',
  'intruder in the process',
];

/** The cells of the table below a heading, without its head. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = TEXT.split(`\n### ${heading}\n`);
  const lines = (section.split('\n### ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test('each actor is there, and each row has a reason and tests', () => {
  const rows = rowsBelow('Who can do what');
  const named = rows.flatMap(([actor = '']) => /^\*\*(.+?)\*\*/.exec(actor)?.[1] ?? []);
  expect([...new Set(named)]).toEqual(ACTORS);
  for (const [, cannot = '', because = '', heldBy = ''] of rows) {
    expect(because, cannot).not.toBe('');
    expect(heldBy, cannot).toMatch(/^(?:`test\/[\w/-]+\.test\.ts`(?:, |$))+$/);
  }
});

test('every test on the page exists', () => {
  const files = [...TEXT.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !existsSync(join(TOP, file)))).toEqual([]);
});

test('every file of a secret that the configuration names has its row', () => {
  const rows = rowsBelow('Secrets').map(([secret = '']) => secret);
  const reference = readFileSync(join(TOP, 'config/REFERENCE.md'), 'utf8');
  const keys = [
    ...reference.matchAll(/^### (\S*(?:key|token|password|password_file|token_file|key_file|headers_file))$/gm),
  ];
  const wordOf: Readonly<Record<string, RegExp>> = {
    admin: /admin token/,
    backend: /private keys/,
    branches: /branches/,
    client: /private keys/,
    cluster: /management API|private keys|Kubernetes/,
    logins: /lookup role/,
    moves: /lookup role/,
    platform: /platform/,
    questions: /role of `questions`/,
  };
  expect(keys.length).toBeGreaterThan(8);
  for (const [, key = ''] of keys) {
    const word = wordOf[key.split('.')[0] ?? ''];
    expect(word !== undefined && rows.some((row) => word.test(row)), key).toBe(true);
  }
});

// Verifiers from a file as PgBouncer has it: what is found, what is refused, and that nothing stays.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { VerifierBatch } from '../../../src/model/moves.ts';
import { FileSource } from '../../../src/verifiers/file-source.ts';
import { SourceError } from '../../../src/verifiers/source.ts';
import { verifierOpener } from '../../../src/verifiers/batch.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const SCRAM = 'SCRAM-SHA-256$4096:c2FsdHNhbHQ=$c3RvcmVk:c2VydmVy';
const MD5 = 'md50123456789abcdef0123456789abcdef';

async function fileWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'userlist.txt');
  await writeFile(file, text);
  return file;
}

function open(file: string): VerifierBatch {
  const batch = verifierOpener(new ManualClock())({ kind: 'file', file }, { host: '127.0.0.1', port: 1 }, () =>
    expect.unreachable(),
  );
  onTestFinished(() => batch.end());
  return batch;
}

/** The verifier as text, or why there is none. */
async function found(text: string, role = 'app'): Promise<string> {
  const lookup = await open(await fileWith(text)).find(role);
  return lookup.kind === 'found' ? Buffer.from(lookup.verifier).toString() : `${lookup.kind}: ${lookup.why}`;
}

test.each([
  ['one line', `"app" "${SCRAM}"`],
  ['an md5 hash', `"app" "${MD5}"\n`],
  ['line ends of Windows, blanks and more fields', `\r\n \t"app"   "${SCRAM}" "more" fields\r\n`],
  ['comments and empty lines', `; "app" "${MD5}"\n\n   \n"app" "${SCRAM}"\n`],
  ['the first of two lines', `"other" "${MD5}"\n"app" "${SCRAM}"\n"app" "${MD5}"\n`],
  ['a broken line before', `app ${MD5}\n"app" "${SCRAM}"\n`],
])('%s', async (name, text) => {
  expect(await found(text)).toBe(name === 'an md5 hash' ? MD5 : SCRAM);
});

test.each(['bjørn', 'with space', 'a"b', '"', 'a;b'])('the role %s', async (role) => {
  const text = `"app" "${MD5}"\n"${role.replaceAll('"', '""')}" "${SCRAM}"\n`;
  expect(await found(text, role)).toBe(SCRAM);
});

test.each([
  ['', 'has no line for role "app"'],
  [`"App" "${SCRAM}"`, 'has no line for role "app"'],
  ['; a comment\n \t\r\n', 'has no line for role "app"'],
  [`"app "${SCRAM}"`, 'has no line for role "app"; line 1 is not "role" "verifier"'],
  [`"app" "${SCRAM}`, 'has no line for role "app"; line 1 is not "role" "verifier"'],
  [`"app"\napp x\n"a" "b"\n`, 'line 1 is not "role" "verifier", nor are 1 more'],
])('%j has no verifier', async (text, why) => {
  const answer = await found(text);
  expect(answer).toMatch(/^refused: /);
  expect(answer.endsWith(why), answer).toBe(true);
  expect(answer).not.toContain('SCRAM');
});

test.each([
  'a plain password',
  '',
  'SCRAM-SHA-256$',
  'SCRAM-SHA-1$4096:c2FsdA==$a:b',
  'md5 is the password',
  MD5.toUpperCase(),
  `${MD5}0`,
  `md5${'g'.repeat(32)}`,
  MD5.slice(0, -1),
])('%j is no verifier, and no message shows it', async (stored) => {
  expect(await found(`"app" "${stored}"`)).toBe(
    'refused: what is stored for role "app" is neither a SCRAM-SHA-256 verifier nor an md5 hash',
  );
});

test('a file that cannot be read is a failure, and is read again', async () => {
  const file = await fileWith('');
  await rm(file);
  const batch = open(file);
  expect(await batch.find('app')).toEqual({
    kind: 'failed',
    why: `${file} cannot be read: there is no such file`,
  });
  await writeFile(file, `"app" "${SCRAM}"`);
  expect(await batch.find('app')).toMatchObject({ kind: 'found' });
});

test('a file that takes too long is a failure with the words of the limit', async () => {
  const source = new FileSource(await fileWith(`"app" "${SCRAM}"`));
  const late = AbortSignal.abort(new SourceError('no answer within 10 s'));
  await expect(source.read('app', late)).rejects.toThrow('no answer within 10 s');
  expect(await source.read('app', new AbortController().signal)).toMatchObject({ kind: 'found' });
  source.close();
  await expect(source.read('app', new AbortController().signal)).rejects.toThrow('its batch of moves is over');
});

test('a role is looked up once, and everything is overwritten at the end', async () => {
  const batch = open(await fileWith(`"app" "${SCRAM}"\n"other" "${MD5}"\n`));
  const lookups = await Promise.all(['app', 'app', 'other'].map((role) => batch.find(role)));
  const [first, again, other] = lookups.map((lookup) => (lookup.kind === 'found' ? lookup.verifier : undefined));
  expect(again).toBe(first);
  expect([first?.length, other?.length]).toEqual([SCRAM.length, MD5.length]);
  batch.end();
  for (const verifier of [first, other]) expect(verifier?.every((byte) => byte === 0)).toBe(true);
  expect(await batch.find('app')).toEqual({ kind: 'failed', why: 'its batch of moves is over' });
});

test('the end while the file is read: nothing is handed out', async () => {
  const batch = open(await fileWith(`"app" "${SCRAM}"\n`));
  const lookup = batch.find('app');
  batch.end();
  expect(await lookup).toEqual({ kind: 'failed', why: 'its batch of moves is over' });
});

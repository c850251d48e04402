// The beginning of a foreign body in an error: short, on one line, without secrets.
import { expect, test } from 'vitest';
import { excerpt } from '../../../src/http/excerpt.ts';

test.each([
  ['{"error":{"message":"name: expected kebab case"}}', '{"error":{"message":"name: expected kebab case"}}'],
  ['', ''],
  ['  a\n\tb\u0007c\u001b[31m\u202e  ', 'a b c [31m'],
  ['no skill skill_01AbCdEfGhIjKlMnOpQrStUvWxYz012345', 'no skill skill_01AbCdEfGhIjKlMnOpQrStUvWxYz012345'],
  ['status 404 of /v1/skills', 'status 404 of /v1/skills'],
])('%j is shown as %j', (text, expected) => {
  expect(excerpt(text, [])).toBe(expected);
});

test.each([
  'the key my-key is wrong',
  'my-keymy-key',
  '{"api_key":"hidden"}',
  "api-key='hidden'",
  'Authorization: Bearer hidden',
  'bearer hidden',
  'password=hidden, user=app',
  'client_secret : hidden',
  '"access_token":"hidden',
  'postgresql://svc:hidden@host/app',
  'value hidden0hidden1hidden2hidden3hidden4',
])('%j: no secret is shown', (text) => {
  expect(excerpt(text, ['my-key'])).not.toMatch(/hidden|my-key/);
  expect(excerpt(text, ['my-key'])).toContain('***');
});

test('at most 500 characters, and no half of one', () => {
  expect(excerpt('a'.repeat(500).replaceAll('aaaaa', 'aaaa '), [])).toHaveLength(499);
  for (const text of ['word '.repeat(10_000), '😀 '.repeat(10_000), ` ${'😀 '.repeat(10_000)}`, 'x'.repeat(100_000)]) {
    const shown = excerpt(text, []);
    expect(shown.length).toBeLessThanOrEqual(500);
    expect(shown.isWellFormed()).toBe(true);
  }
});

test('a secret at the end of what is read is not shown in part', () => {
  const secret = 'abcdefghijklmnopqrstuvwxyz';
  for (let offset = 0; offset < 30; offset += 1) {
    const text = `${'api_key=hidden, '.repeat(1300).slice(0, 20_000 - offset)} ${secret} end`;
    expect(excerpt(text, [secret])).not.toContain('abcdef');
  }
});

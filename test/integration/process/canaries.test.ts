// The search that every helper which runs the program does finds a secret in each form that a text can have.
import { expect, test } from 'vitest';
import { runProgram } from '../../support/processes/run-program.ts';
import * as canaries from '../../support/values/canaries.ts';
import { tlsText } from '../../support/values/tls-files.ts';

const { expectNoCanary, secretLineOf: _, ...secrets } = canaries;

test.each([...Object.entries(secrets), ['the key', tlsText('server.key')]])('finds %s', (_, secret) => {
  for (const text of [secret, JSON.stringify({ of: secret })])
    expect(() => expectNoCanary('a line', text)).toThrow('a line has a secret');
});

test.each(['base64', 'base64url', 'hex'] as const)('finds it as %s, wherever it begins', (encoding) => {
  for (const before of ['', 'a', 'ab', 'app:']) {
    const text = Buffer.from(`${before}${secrets.API_PASSWORD}`).toString(encoding);
    expect(() => expectNoCanary('a header', text)).toThrow('a header has a secret');
  }
});

test('an ordinary line has none', () => {
  for (const text of ['password authentication failed for user "app"', tlsText('server.pem')])
    expect(() => expectNoCanary('a line', text)).not.toThrow();
});

test('a program that tells one fails the test that has run it', async () => {
  const told = runProgram(process.execPath, ['-e', `console.error(${JSON.stringify(secrets.APP_PASSWORD)})`]);
  await expect(told).rejects.toThrow('has a secret');
});

// `balance: latency` warns where replies cannot be read.
import { expect, test } from 'vitest';
import { configOf, load, warningsOf } from '../../../support/values/loading.ts';
import { SERVER } from '../../../support/values/tls-files.ts';

const LATENCY = 'pools: { read: { balance: latency } }';

test('in passthrough only logins count, and the warning names what to set', () => {
  expect(warningsOf(load(LATENCY))).toContain(
    'pools.read.balance: counts only the time of a login for clients in TLS: set client.tls.mode to terminate or',
  );
});

test('where replies can be read, or with another balance, there is no warning', () => {
  const tls = `client: { tls: { mode: terminate, cert: ${SERVER.cert}, key: ${SERVER.key} } }`;
  const loaded = load(`${tls}\n${LATENCY}`);
  expect(warningsOf(loaded)).not.toContain('balance');
  expect(configOf(loaded).pools.find(({ name }) => name === 'read')?.balance).toBe('latency');
  expect(warningsOf(load('pools: { read: { balance: random } }'))).not.toContain('balance');
});

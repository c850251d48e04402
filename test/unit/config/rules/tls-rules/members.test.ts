// backend.tls: keys that belong together, settings that verify nothing, and what operators must know of them.
import { expect, test } from 'vitest';
import { load, warningsOf } from '../../../../support/values/loading.ts';
import { OTHER, SERVER, tlsFile } from '../../../../support/values/tls-files.ts';

const CA = tlsFile('ca.pem');

const said = (tls: object, more: object = {}): string =>
  warningsOf(load(JSON.stringify({ backend: { tls }, ...more })));

test.each<[string, object]>([
  ['an authority', { mode: 'verify-full', ca_file: CA }],
  ['the authority alone', { mode: 'verify-ca', ca_file: CA }],
  ['a fixed name', { mode: 'verify-full', server_name: 'db.example.org' }],
])('%s is enough', (_, tls) => {
  expect(said(tls)).toBe('');
});

test.each<[string, object, string]>([
  [
    'a public authority, whatever the name',
    { mode: 'verify-ca', server_name: 'db.example.org' },
    'whatever its name is',
  ],
  ['a public authority and an address', { mode: 'verify-full' }, 'give ca_file, or a fixed server_name'],
  ['… and a name of the cluster', { mode: 'verify-full', server_name: '{member}.test' }, 'give ca_file, or a fixed'],
  ['keys without a mode', { ca_file: CA }, 'the other keys are for verify-ca and verify-full'],
  [
    'a certificate without a key',
    { mode: 'verify-ca', ca_file: CA, cert: SERVER.cert },
    'cert and key belong together',
  ],
  ['a key of another', { mode: 'verify-ca', ca_file: CA, ...SERVER, key: OTHER.key }, 'is not the key of cert'],
  ['no list of revocations', { mode: 'verify-ca', ca_file: CA, crl_file: CA }, 'is not a list of revoked certificates'],
])('%s: an error', (_, tls, text) => {
  expect(said(tls)).toContain(text);
});

test('our own certificate, and one that has expired: warnings', () => {
  const own = { mode: 'verify-ca', ca_file: CA, ...OTHER };
  expect(said(own)).toMatch(
    /^.*backend\.tls\.cert: a line with cert or clientcert in pg_hba\.conf is met by every client/,
  );
  expect(said({ ...own, cert: tlsFile('expired.pem') })).toContain(
    'expired.pem expired on 2020-02-01T00:00:00.000Z: members that verify clients refuse it',
  );
});

test.each([
  ['terminate', '0.0.0.0', true],
  ['terminate', '127.0.0.1', false],
  ['passthrough', '0.0.0.0', true],
  ['require', '0.0.0.0', false],
])('%s on %s: clients in plain text that look encrypted: %s', (mode, host, isTold) => {
  const listeners = [{ address: `${host}:5432`, pool: 'write' }];
  const client = mode === 'passthrough' ? {} : { client: { tls: { mode, ...SERVER } } };
  const text = said({ mode: 'verify-ca', ca_file: CA }, { listeners, ...client });
  expect(text.includes(`backend.tls.mode: client.tls.mode ${mode} serves clients without TLS too`)).toBe(isTold);
});

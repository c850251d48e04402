// client.tls: the TLS modes, and the checks of the certificate and the key.
import { rm } from 'node:fs/promises';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readKeyPair, readKeyPairNow } from '../../../../../src/config/files/key-pair.ts';
import { loadConfig } from '../../../../../src/config/load.ts';
import type { LoadResult } from '../../../../../src/config/load.ts';
import { formatProblems } from '../../../../../src/config/fault.ts';
import { OTHER, SERVER, tlsFile, tlsText } from '../../../../support/values/tls-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'pointsman-client-tls-'));
afterAll(() => rm(folder, { recursive: true }));

function aFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

interface Written {
  readonly mode?: string;
  readonly cert?: string;
  readonly key?: string;
}

function load(tls: Written): LoadResult {
  const text = `client:\n  tls: ${JSON.stringify(tls)}\n`;
  return loadConfig({ file: 'p.yaml', env: { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' }, readFile: () => text });
}

function problem(tls: Written): string {
  const loaded = load(tls);
  return loaded.kind === 'ok' ? '' : formatProblems(loaded.problems);
}

test.each(['terminate', 'require'])('%s with a pair', (mode) => {
  // The fixture in the repository can be read by every user.
  const pair = { ...SERVER, key: aFile('private.key', tlsText('server.key')) };
  const loaded = load({ mode, ...pair });
  expect(loaded).toMatchObject({ kind: 'ok', warnings: [], config: { client: { tls: { mode, ...pair } } } });
});

test('the default is passthrough, and the environment may override it', () => {
  expect(load({})).toMatchObject({ kind: 'ok', config: { client: { tls: { mode: 'passthrough' } } } });
  const env = {
    POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008',
    POINTSMAN_CLIENT_TLS_MODE: 'require',
    POINTSMAN_CLIENT_TLS_CERT: SERVER.cert,
    POINTSMAN_CLIENT_TLS_KEY: SERVER.key,
  };
  expect(loadConfig({ file: undefined, env })).toMatchObject({ config: { client: { tls: { mode: 'require' } } } });
});

test.each<[string, Written, string]>([
  ['no files', { mode: 'terminate' }, 'client.tls.mode: terminate needs cert and key'],
  ['half a pair', { mode: 'require', cert: SERVER.cert }, 'client.tls.mode: require needs cert and key'],
  ['files without a use for them', { ...SERVER }, 'client.tls: cert and key are for the modes terminate and require'],
  [
    'files and passthrough',
    { mode: 'passthrough', ...SERVER },
    'client.tls.mode: cert and key are for the modes terminate and require',
  ],
  ['another mode', { mode: 'on' }, 'client.tls.mode: expected passthrough, terminate or require, not "on"'],
  [
    'a certificate that is not there',
    { mode: 'terminate', ...SERVER, cert: '/nowhere/tls.crt' },
    'client.tls.cert: /nowhere/tls.crt cannot be read: there is no such file',
  ],
  [
    'a key that is not there',
    { mode: 'terminate', ...SERVER, key: '/nowhere/tls.key' },
    'client.tls.key: /nowhere/tls.key cannot be read: there is no such file',
  ],
  [
    'a directory',
    { mode: 'terminate', ...SERVER, key: folder },
    `client.tls.key: ${folder} cannot be read: it is a directory`,
  ],
  [
    "another pair's key",
    { mode: 'terminate', ...SERVER, key: OTHER.key },
    `client.tls.key: ${OTHER.key} is not the key of cert`,
  ],
  [
    'the two exchanged',
    { mode: 'terminate', cert: SERVER.key, key: SERVER.cert },
    `client.tls.cert: ${SERVER.key} is not a certificate in PEM`,
  ],
  [
    'a certificate for a key',
    { mode: 'terminate', ...SERVER, key: SERVER.cert },
    `client.tls.key: ${SERVER.cert} is not a private key in PEM`,
  ],
  [
    'a key with a passphrase',
    { mode: 'terminate', ...OTHER, key: tlsFile('encrypted.key') },
    'is encrypted: a key without a passphrase is needed',
  ],
])('%s: an error with its place', (_, tls, expected) => {
  const text = problem(tls);
  expect(text).toContain(expected);
  expect(text).toMatch(/^p\.yaml:2:\d+: /);
});

test('a fault behind the first certificate is found too', () => {
  const cert = aFile(
    'chain.pem',
    `${tlsText('server.pem')}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  );
  expect(problem({ mode: 'terminate', ...SERVER, cert })).toContain(`client.tls.cert: ${cert} cannot be used: `);
});

test('an expired certificate is served with a warning', () => {
  const loaded = load({ mode: 'terminate', ...OTHER, cert: tlsFile('expired.pem') });
  if (loaded.kind !== 'ok') throw new Error(formatProblems(loaded.problems));
  expect(formatProblems(loaded.warnings)).toContain('expired.pem expired on 2020-02-01T00:00:00.000Z');
});

test.each([
  ['good', SERVER],
  ['missing', { ...SERVER, cert: '/nowhere/tls.crt' }],
  ['missing key', { ...SERVER, key: '/nowhere/tls.key' }],
  ['not a pair', { ...SERVER, key: OTHER.key }],
])('a certificate is judged in the same way at the start and while the program runs: %s', async (_, files) => {
  expect(await readKeyPair(files)).toEqual(readKeyPairNow(files));
});

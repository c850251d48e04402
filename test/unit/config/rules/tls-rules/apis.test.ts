// cluster.api.tls: the check of the configuration reports unusable files; the first probe is too late for that.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../../../../src/config/load.ts';
import { formatProblems } from '../../../../../src/config/fault.ts';
import { OTHER, SERVER, tlsFile, tlsText } from '../../../../support/values/tls-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'pointsman-api-tls-'));
afterAll(() => rm(folder, { recursive: true }));

function aFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const CA = tlsFile('ca.pem');
const DAMAGED = tlsText('ca.pem').replace(/^[A-Za-z0-9+/]{64}$/m, 'A'.repeat(64));

interface Written {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

function problemsOf(tls: Written, seed = 'https://pg1:8008'): string {
  const text = `cluster:\n  seeds: ['${seed}']\n  api:\n    tls:\n${Object.entries(tls)
    .map(([key, path]) => `      ${key}: ${path}\n`)
    .join('')}`;
  const loaded = loadConfig({ file: 'p.yaml', env: {}, readFile: () => text });
  return loaded.kind === 'ok' ? '' : formatProblems(loaded.problems);
}

test.each<[string, Written]>([
  ['an authority', { ca: CA }],
  ['two authorities', { ca: aFile('both.pem', `# first\n${tlsText('ca.pem')}\n${tlsText('other-ca.pem')}`) }],
  ['a pair', { ca: CA, ...SERVER }],
])('%s', (_, tls) => {
  expect(problemsOf(tls)).toBe('');
});

test.each<[string, Written, string]>([
  [
    'a missing authority',
    { ca: '/nope.pem' },
    'p.yaml:5:11: cluster.api.tls.ca: /nope.pem cannot be read: there is no such',
  ],
  ['a directory', { ca: folder }, 'cluster.api.tls.ca: '.concat(folder, ' cannot be read: it is a directory')],
  ['an authority that is no PEM', { ca: aFile('text.pem', 'hello\n') }, 'text.pem is not a certificate in PEM'],
  ['a key as authority', { ca: SERVER.key }, 'server.key is not a certificate in PEM'],
  [
    'a damaged second authority',
    { ca: aFile('damaged.pem', `${tlsText('ca.pem')}${DAMAGED}`) },
    'damaged.pem cannot be used: its certificate 2 is damaged',
  ],
  [
    'a missing certificate',
    { cert: '/nope.pem', key: SERVER.key },
    'p.yaml:5:13: cluster.api.tls.cert: /nope.pem cannot',
  ],
  [
    'a missing key',
    { cert: SERVER.cert, key: '/nope.key' },
    'p.yaml:6:12: cluster.api.tls.key: /nope.key cannot be read',
  ],
  ['a key of another certificate', { cert: SERVER.cert, key: OTHER.key }, 'is not the key of cert'],
])('%s', (_, tls, said) => {
  expect(problemsOf(tls)).toContain(said);
});

test('all problems at once, and none if every seed is an http URL', () => {
  const broken = { ca: '/nope.pem', cert: '/nope.crt', key: '/nope.key' };
  expect(problemsOf(broken).split('\n')).toHaveLength(2);
  expect(problemsOf(broken, 'http://pg1:8008')).toBe('');
});

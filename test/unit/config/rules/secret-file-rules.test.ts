// Files with a secret, and who may read them.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { load, SEEDS, warningsOf } from '../../../support/values/loading.ts';
import { SERVER, tlsText } from '../../../support/values/tls-files.ts';

async function secretFile(mode: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'secret');
  await writeFile(file, tlsText('server.key'));
  await chmod(file, mode);
  return file;
}

const PLACES: readonly (readonly [string, (file: string) => string])[] = [
  ['admin.token_file', (file) => `admin: { token_file: ${file} }`],
  ['moves.verifiers.file', (file) => `moves: { roles: [app], verifiers: { file: ${file} } }`],
  [
    'moves.verifiers.password_file',
    (file) => `moves: { roles: [app], verifiers: { user: lookup, password_file: ${file} } }`,
  ],
  [
    'cluster.api.auth.password_file',
    (file) => `cluster: { api: { auth: { username: patroni, password_file: ${file} } } }`,
  ],
  [
    'branches.console.api_key_file',
    (file) => `branches: { source: console, console: { url: 'http://127.0.0.1:1', project: p, api_key_file: ${file} },
        backends: { template: '{id}.branches.svc:5432' } }`,
  ],
  [
    'branches.storage.headers_file',
    (file) => `branches: { source: storage, storage: { url: 'http://127.0.0.1:1', tenant: ${'a'.repeat(32)},
        headers_file: ${file} }, backends: { template: '{id}.branches.svc:5432' } }`,
  ],
  ['cluster.api.tls.key', (file) => `cluster: { api: { tls: { cert: ${file}, key: ${file} } } }`],
  ['client.tls.key', (file) => `client: { tls: { mode: require, cert: ${SERVER.cert}, key: ${file} } }`],
  [
    'platform.api_key_file',
    (file) => `platform: { url: 'http://127.0.0.1:1', api_key_file: ${file}, beta_header: beta }`,
  ],
];

test.each(PLACES)('%s: a file that every user can read is a warning', async (place, text) => {
  const open = await secretFile(0o644);
  expect(warningsOf(load(text(open)))).toContain(`${place}: ${open} can be read by every user of this machine`);
  for (const mode of [0o600, 0o640, 0o400]) {
    expect(warningsOf(load(text(await secretFile(mode))))).not.toContain('every user');
  }
});

test('in a pod no other user is there', async () => {
  const text = `admin: { token_file: ${await secretFile(0o644)} }`;
  expect(warningsOf(load(text, { ...SEEDS, KUBERNETES_SERVICE_HOST: '10.0.0.1' }))).not.toContain('every user');
});

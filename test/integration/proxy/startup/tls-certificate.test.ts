// Scenario 47: the certificate for clients changes while sessions live.
import { copyFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectTls } from '../../../support/sockets/tls-client.ts';
import type { TlsClient } from '../../../support/sockets/tls-client.ts';
import { OTHER, SERVER, tlsFile, tlsText } from '../../../support/values/tls-files.ts';
import type { KeyPairPaths } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';

const REREAD_MS = 5_000;

let folder: string;
let files: KeyPairPaths;
let backend: FakeBackend;
let clock: ManualClock;
let lab: ProxyLab;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-identity-'));
  // Kubernetes mounts a secret so: tls.crt -> ..data/tls.crt, ..data -> a directory of this version.
  await version('v1', SERVER);
  await symlink('v1', join(folder, '..data'));
  files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  await symlink('..data/tls.crt', files.cert);
  await symlink('..data/tls.key', files.key);
  backend = await startFakeBackend('echo');
  clock = new ManualClock();
  lab = await startProxyLab({
    clock,
    table: { write: { open: { 'pg-1': backend.address } } },
    client: { tls: { mode: 'terminate', ...files } },
  });
});

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
  await backend.stop();
  await rm(folder, { recursive: true });
});

async function version(name: string, { cert, key }: KeyPairPaths): Promise<void> {
  await mkdir(join(folder, name));
  await copyFile(cert, join(folder, name, 'tls.crt'));
  await copyFile(key, join(folder, name, 'tls.key'));
}

async function rotateTo(name: string): Promise<void> {
  await symlink(name, join(folder, '..next'));
  await rename(join(folder, '..next'), join(folder, '..data'));
}

function told(kind: 'certificate_loaded' | 'certificate_refused') {
  return lab.events.filter((event) => event.kind === kind);
}

/** Triggers a check of the files, and resolves when the timer of the next check is set. */
async function reread(): Promise<void> {
  await until('no timer but this one', () => clock.pending() === 1);
  await clock.advance(REREAD_MS);
  await until('the next look', () => clock.pending() === 1);
}

/** The name in the certificate that a new client gets. */
async function nameNow(): Promise<string | undefined> {
  const ca = [tlsText('ca.pem'), tlsText('other-ca.pem')];
  const client = await connectTls(lab.address('write'), { ca, checkServerIdentity: () => undefined });
  const { subject } = client.socket.getPeerCertificate();
  client.socket.destroy();
  return String(subject.CN);
}

async function aSession(): Promise<TlsClient> {
  const client = await connectTls(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => client.received().equals(aStartup()));
  return client;
}

test('scenario 47: changed files apply to new handshakes by themselves; live sessions stay', async () => {
  const session = await aSession();
  expect(await nameNow()).toBe('pg-a.test');
  await version('v2', OTHER);
  await rotateTo('v2');
  await reread();
  expect(await nameNow()).toBe('pg-b.test');
  session.socket.write('still here');
  await until('the echo', () => session.received().toString().endsWith('still here'));
  expect(told('certificate_loaded')).toHaveLength(2);
  expect(lab.proxy.counts().get('write')?.states.relaying).toBe(1);
});

test('unchanged files cause no event', async () => {
  await reread();
  await reread();
  expect(told('certificate_loaded')).toHaveLength(1);
  expect(told('certificate_refused')).toEqual([]);
});

test('an unusable pair leaves the old one in use, is reported once, and shows until it is repaired', async () => {
  await version('half', { cert: OTHER.cert, key: SERVER.key });
  await rotateTo('half');
  await reread();
  await reread();
  expect(await nameNow()).toBe('pg-a.test');
  expect(told('certificate_refused')).toEqual([
    { kind: 'certificate_refused', why: `${files.key} is not the key of cert` },
  ]);
  expect(lab.proxy.certificate()).toMatchObject({ isCurrent: false, file: files.cert });
  await rm(files.cert);
  await reread();
  expect(told('certificate_refused')[1]).toMatchObject({ why: `${files.cert} cannot be read: there is no such file` });
  await copyFile(OTHER.cert, files.cert);
  await rm(files.key);
  await copyFile(OTHER.key, files.key);
  await reread();
  expect(await nameNow()).toBe('pg-b.test');
  expect(lab.proxy.certificate()).toMatchObject({ isCurrent: true });
});

test('a file that is empty for a moment during its write causes no failure', async () => {
  await rm(files.cert);
  await writeFile(files.cert, '');
  await reread();
  expect(await nameNow()).toBe('pg-a.test');
  await copyFile(SERVER.cert, files.cert);
  await reread();
  expect(lab.proxy.certificate()).toMatchObject({ isCurrent: true });
  expect(told('certificate_loaded')).toHaveLength(1);
});

test('an expired certificate is shown with its date', async () => {
  await version('old', { cert: tlsFile('expired.pem'), key: OTHER.key });
  await rotateTo('old');
  await reread();
  expect(lab.proxy.certificate()?.expiresAt).toBe(Date.parse('2020-02-01T00:00:00Z'));
});

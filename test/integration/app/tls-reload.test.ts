// Scenario 47 for the whole program: a reload changes the end of TLS and the certificate, all or nothing.
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import { AppLab, FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { SSL_REQUEST, aStartup } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { connectTls } from '../../support/sockets/tls-client.ts';
import { OTHER, SERVER, tlsText } from '../../support/values/tls-files.ts';
import { until } from '../../support/waiting/until.ts';

let folder: string;
let cluster: FakeCluster;
let lab: AppLab;
let at: Address;

const EXPIRY = 'pointsman_tls_certificate_expiry_timestamp_seconds';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-tls-reload-'));
  cluster = await FakeCluster.start();
  [at = at] = await freeAddresses(1);
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
  await rm(folder, { recursive: true });
});

function file(tls: Readonly<Record<string, string>>): ConfigFile {
  return {
    cluster: cluster.section(),
    listeners: [
      { address: `${at.host}:${at.port}`, pool: 'write' },
      { address: '127.0.0.1:0', pool: 'read' },
    ],
    admin: { address: '127.0.0.1:0' },
    client: { tls },
  };
}

async function pair({ cert, key }: typeof SERVER): Promise<typeof SERVER> {
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  await copyFile(cert, files.cert);
  await copyFile(key, files.key);
  return files;
}

async function nameNow(): Promise<string> {
  const ca = [tlsText('ca.pem'), tlsText('other-ca.pem')];
  const client = await connectTls(at, { ca, checkServerIdentity: () => undefined });
  const { subject } = client.socket.getPeerCertificate();
  client.socket.destroy();
  return String(subject.CN);
}

async function stillEchoes(client: RawClient): Promise<void> {
  const before = client.received().length;
  client.socket.write('still there');
  await until('the echo', () => client.received().length === before + 'still there'.length);
}

test('scenario 47: a reload reads the certificate again, and a live session stays', async () => {
  const files = await pair(SERVER);
  lab = await AppLab.start(file({ mode: 'terminate', ...files }));
  const session = await connectTls(at);
  session.socket.write(aStartup());
  await until('the session', () => session.received().equals(aStartup()));
  expect(await lab.metric(`${EXPIRY}{file="${files.cert}"}`)).toBe(Date.parse('2126-10-28T06:53:29Z') / 1000);

  await pair(OTHER);
  expect(await lab.reload(file({ mode: 'terminate', ...files }))).toEqual({
    kind: 'reloaded',
    changed: [],
    needsRestart: [],
  });
  expect(await nameNow()).toBe('pg-b.test');
  await stillEchoes(session);
  expect(lab.said('certificate_loaded')).toHaveLength(2);
});

test('an unusable pair: the reload changes nothing and reports the file and the reason', async () => {
  const files = await pair(SERVER);
  lab = await AppLab.start(file({ mode: 'terminate', ...files }));
  await copyFile(OTHER.key, files.key);
  expect(await lab.reload(file({ mode: 'require', ...files }))).toEqual({
    kind: 'failed',
    problems: [expect.stringContaining(`client.tls.key: ${files.key} is not the key of cert`)],
  });
  expect(await nameNow()).toBe('pg-a.test');
  const plain = await connectRaw(at);
  plain.socket.write(aStartup());
  await until('plain text is accepted still', () => plain.received().equals(aStartup()));
  expect(await lab.metric('pointsman_config_last_reload_successful')).toBe(0);
  await writeFile(files.key, tlsText('server.key'));
  expect(await lab.reload(file({ mode: 'require', ...files }))).toEqual({
    kind: 'reloaded',
    changed: ['client.tls.mode terminate -> require'],
    needsRestart: [],
  });
});

test('a new mode applies to new clients', async () => {
  lab = await AppLab.start(file({ mode: 'passthrough' }));
  const before = await connectRaw(at);
  before.socket.write(aStartup());
  await until('the session', () => before.received().equals(aStartup()));
  expect(await lab.metric(EXPIRY)).toBeUndefined();

  const reloaded = await lab.reload(file({ mode: 'require', ...SERVER }));
  expect(reloaded).toMatchObject({ changed: expect.arrayContaining(['client.tls.mode passthrough -> require']) });
  expect(await nameNow()).toBe('pg-a.test');
  await stillEchoes(before);

  await lab.reload(file({ mode: 'passthrough' }));
  const after = await connectRaw(at);
  after.socket.write(SSL_REQUEST);
  await until('the member is asked', () => after.received().equals(SSL_REQUEST));
  expect(await lab.metric(`${EXPIRY}{file="${SERVER.cert}"}`)).toBeUndefined();
});

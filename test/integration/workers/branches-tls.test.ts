// TLS to branches with several worker processes, from the configuration file on: each worker has the authorities read
// by the main process at each connect.
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import { startTlsBackend } from '../../support/fakes/tls-backend.ts';
import type { TlsBackend } from '../../support/fakes/tls-backend.ts';
import { WorkersLab } from '../../support/labs/workers-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { tlsFile } from '../../support/values/tls-files.ts';

// Three processes are started for each test.
vi.setConfig({ hookTimeout: 60_000, testTimeout: 60_000 });

const FORWARDED = aStartup({ user: 'u', database: 'app' });

let lab: WorkersLab;
let branch: TlsBackend;
let directory: string;
let file: string;

beforeEach(async () => {
  branch = await startTlsBackend();
  directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  file = join(directory, 'ca.pem');
  await copyFile(tlsFile('ca.pem'), file);
});

afterEach(async () => {
  await lab.stop();
  await branch.stop();
  await rm(directory, { recursive: true });
});

function branches(backends: Readonly<Record<string, string>> = { tls: 'require', ca_file: file }): ConfigFile {
  return { branches: { source: 'static', static: { 'pr-1': `127.0.0.1:${branch.address.port}` }, backends } };
}

async function asking(at: Address): Promise<RawClient> {
  const client = await connectRaw(at);
  client.socket.write(aStartup({ user: 'u', database: 'app@pr-1' }));
  return client;
}

async function detailsOf(clients: readonly RawClient[]): Promise<readonly (string | undefined)[]> {
  const fields = () => clients.map((client) => errorFields(client.received()));
  await lab.pointsman.waitFor('the errors', () => fields().every((error) => error !== undefined));
  return fields().map((error) => error?.['D']);
}

test('both workers connect with TLS, and a file that is replaced counts with the next connect', async () => {
  lab = await WorkersLab.start(branches());
  const clients = (await lab.onBoth('write', asking)).flat();
  await lab.pointsman.waitFor(
    'the startup packets',
    () => branch.connections.filter((one) => one.received().equals(FORWARDED)).length === clients.length,
  );
  await copyFile(tlsFile('other-ca.pem'), file);
  const refused = (await lab.onBoth('read', asking)).flat();
  const why = 'no trusted authority has signed the certificate of the backend (branches.backends.ca_file)';
  for (const detail of await detailsOf(refused)) expect(detail).toContain(why);
  for (const { socket } of [...clients, ...refused]) socket.destroy();
});

test('a reload switches TLS on and off', async () => {
  lab = await WorkersLab.start(branches({ tls: 'off' }));
  const plain = await asking(await lab.at('write'));
  await lab.pointsman.waitFor('the plain connection', () => branch.carriers.length > 0);
  expect(branch.connections.length).toBe(0);
  await lab.pointsman.configure(lab.file(branches()));
  lab.pointsman.signal('SIGHUP');
  await lab.pointsman.waitFor('the reload', () => lab.said('config_reloaded').length === 1);
  const encrypted = (await lab.onBoth('write', asking)).flat();
  await lab.pointsman.waitFor('the handshakes', () => branch.connections.length >= encrypted.length);
  for (const { socket } of [plain, ...encrypted]) socket.destroy();
});

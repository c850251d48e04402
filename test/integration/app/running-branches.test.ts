// The branches of the whole program, by a console that keeps the contract: an outage, and reloads.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { startFakeConsole } from '../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../support/branches/fake-console.ts';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let console: FakeConsole;
let backend: FakeBackend;
let folder: string;
let lab: AppLab;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  console = await startFakeConsole();
  console.addBranch({ id: 'br-1', name: 'pr-1', parentId: console.root, parentLsn: '0/1' });
  backend = await startFakeBackend('polite');
  folder = await mkdtemp(join(tmpdir(), 'pointsman-branches-'));
  await writeFile(join(folder, 'key'), console.apiKey);
});

afterEach(async () => {
  await lab.app.stop();
  await console.stop();
  await backend.stop();
  await cluster.stop();
  await rm(folder, { recursive: true });
  expect(console.violations).toEqual([]);
  expect(console.requests.every(({ method }) => method === 'GET')).toBe(true);
  expect(JSON.stringify(lab.lines)).not.toContain(console.apiKey);
});

function file(branches?: ConfigFile): ConfigFile {
  return fileFor([cluster.primary, cluster.replica], branches && { branches });
}

function fromConsole(changes: ConfigFile = {}): ConfigFile {
  return {
    source: 'console',
    refresh: '1s',
    console: { url: console.url, project: console.project, api_key_file: join(folder, 'key') },
    backends: { overrides: { 'br-1': `127.0.0.1:${backend.address.port}` } },
    ...changes,
  };
}

const document = z.object({ branches: z.array(z.object({ name: z.string() })) });

async function listed(): Promise<readonly string[]> {
  const answer = await fetch(`${lab.admin}/branches`);
  if (answer.status !== 200) return [];
  return document.parse(await answer.json()).branches.map(({ name }) => name);
}

/** The code of the ErrorResponse that a client of this target gets, or the reply of its branch. */
async function reply(target: string): Promise<string> {
  return await replyTo(await connectRaw(lab.address('write')), target);
}

async function replyTo(client: RawClient, target: string): Promise<string> {
  client.socket.write(aStartup({ user: 'app', database: `app@${target}` }));
  await until('a reply', () => client.received().length > 0);
  const { C: code } = errorFields(client.received()) ?? {};
  client.socket.destroy();
  return code ?? (client.received().toString('latin1').startsWith('R') ? 'served' : 'other bytes');
}

test('an outage of the console changes nothing for branches of the list, for pools and for readiness', async () => {
  lab = await AppLab.start(file(fromConsole()));
  await until('the list', async () => (await listed()).length === 2);
  expect(await reply('pr-1')).toBe('served');
  expect(backend.connections).toHaveLength(1);
  console.script = () => ({ status: 503 });
  await until('the failure', () => lab.said('branch_list_failed').length > 0);
  expect(await reply('pr-1')).toBe('served');
  expect(await reply('pr-2')).toBe('57P03');
  expect(await reply('main')).toBe('28000');
  expect((await fetch(`${lab.admin}/readyz`)).status).toBe(200);
  expect(await listed()).toEqual(['main', 'pr-1']);
  console.script = () => undefined;
  await until('the recovery', () => lab.said('branch_list_recovered').length > 0);
  expect(await reply('pr-2')).toBe('3D000');
  expect([lab.said('branch_list_failed').length, lab.said('branch_list_recovered').length]).toEqual([1, 1]);
});

test('100 clients of an unknown branch cause one request, and no byte to a member', async () => {
  lab = await AppLab.start(file(fromConsole({ refresh: '1h' })));
  await until('the list', async () => (await listed()).length === 2);
  expect(console.requests).toHaveLength(1);
  const clients = await Promise.all(Array.from({ length: 100 }, () => connectRaw(lab.address('write'))));
  // All ask in one turn of the event loop.
  const replies = await Promise.all(clients.map((client) => replyTo(client, 'nobody')));
  expect(new Set(replies)).toEqual(new Set(['3D000']));
  // One on a quiet machine. Clients that a loaded machine delays need a list of their own.
  expect(console.requests.length).toBeLessThanOrEqual(4);
  for (const { postgres } of [cluster.primary, cluster.replica]) expect(postgres.connections).toHaveLength(0);
});

test('a reload adds branches, changes them, and takes them away', async () => {
  lab = await AppLab.start(file());
  expect(await reply('pr-1')).toBe('3D000');
  expect((await fetch(`${lab.admin}/branches`)).status).not.toBe(200);

  expect(await lab.reload(file(fromConsole()))).toMatchObject({ kind: 'reloaded', needsRestart: [] });
  await until('the list', async () => (await listed()).length === 2);
  expect(await reply('pr-1')).toBe('served');

  await lab.reload(file(fromConsole({ allow: ['dev-*'] })));
  expect(await reply('pr-1')).toBe('28000');

  const address = `127.0.0.1:${backend.address.port}`;
  await lab.reload(file({ source: 'static', static: { 'pr-9': address } }));
  expect(await listed()).toEqual(['pr-9']);
  expect([await reply('pr-9'), await reply('pr-1')]).toEqual(['served', '3D000']);

  const before = console.requests.length;
  await lab.reload(file());
  expect(await reply('pr-9')).toBe('3D000');
  expect(await lab.metric('pointsman_branches{source="static"}')).toBeUndefined();
  expect(console.requests).toHaveLength(before);
});

test('a reload during an outage keeps the last good list', async () => {
  lab = await AppLab.start(file(fromConsole()));
  await until('the list', async () => (await listed()).length === 2);
  console.script = () => ({ status: 503 });
  await until('the failure', () => lab.said('branch_list_failed').length > 0);
  await lab.reload(file(fromConsole({ allow: ['pr-*'], refresh: '2s' })));
  expect(await reply('pr-1')).toBe('served');
});

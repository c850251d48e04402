// Branches with several worker processes: the main process has the directory, each worker asks it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { WorkersLab } from '../../support/labs/workers-lab.ts';
import { aCancelOf, aStartup, errorFields } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import type { Address } from '../../../src/model/member.ts';

vi.setConfig({ hookTimeout: 60_000, testTimeout: 60_000 });

let lab: WorkersLab;
let branch: FakeBackend;

beforeEach(async () => {
  branch = await startFakeBackend('obliging');
});

afterEach(async () => {
  await lab.stop();
  await branch.stop();
});

function configured(names: readonly string[]) {
  const at = `127.0.0.1:${branch.address.port}`;
  return { branches: { source: 'static', static: Object.fromEntries(names.map((name) => [name, at])) } };
}

function asking(target: string): (at: Address) => Promise<RawClient> {
  return async (at) => {
    const client = await connectRaw(at);
    client.socket.write(aStartup({ user: 'u', database: `app@${target}` }));
    return client;
  };
}

test('both workers find a branch, refuse an unknown one, and pass a cancel request on', async () => {
  lab = await WorkersLab.start(configured(['pr-1']));
  const served = (await lab.onBoth('write', asking('pr-1'))).flat();
  await lab.pointsman.waitFor('the sessions', () => served.every((client) => client.received().length > 0));
  const refused = (await lab.onBoth('write', asking('pr-2'))).flat();
  await lab.pointsman.waitFor('the errors', () =>
    refused.every((client) => errorFields(client.received())?.['C'] === '3D000'),
  );
  const opened = lab.said('session_opened');
  expect(opened.length).toBe(served.length);
  for (const line of opened) expect(line).toMatchObject({ pool: 'branches', branch: { id: 'pr-1', name: 'pr-1' } });
  const before = branch.connections.length;
  const request = aCancelOf(42, Buffer.alloc(4, 7));
  (await connectRaw(await lab.at('read'))).socket.write(request);
  await lab.pointsman.waitFor('the request', () => branch.connections.length > before);
  await lab.pointsman.waitFor('its bytes', () => branch.last().received().equals(request));
  for (const { socket } of [...served, ...refused]) socket.destroy();
});

test('a reload changes the branches of both workers', async () => {
  lab = await WorkersLab.start(configured(['pr-1']));
  await lab.pointsman.configure(lab.file(configured(['pr-2'])));
  lab.pointsman.signal('SIGHUP');
  await lab.pointsman.waitFor('the reload', () => lab.said('config_reloaded').length > 0);
  const served = (await lab.onBoth('write', asking('pr-2'))).flat();
  await lab.pointsman.waitFor('the sessions', () => served.every((client) => client.received().length > 8));
  expect(served.map((client) => errorFields(client.received()))).toEqual(served.map(() => undefined));
  const refused = await asking('pr-1')(await lab.at('write'));
  await lab.pointsman.waitFor('the error', () => errorFields(refused.received())?.['C'] === '3D000');
  for (const { socket } of [...served, refused]) socket.destroy();
});

// An operator moves a session that has no server yet, or is still logging in: nothing is wrong with it, it is busy.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { until } from '../../../support/waiting/until.ts';

let backend: FakeBackend;
let lab: ProxyLab;

beforeEach(async () => {
  backend = await startFakeBackend('polite');
  lab = await startProxyLab({ moves: { waitMs: 50 } });
});

afterEach(() => lab.end(backend));

test('a session that is still logging in', async () => {
  lab.decide({ write: { open: { 'pg-1': backend.address } } });
  const client = await lab.connect('write');
  await until('the question for a password', () => client.received().length > 0);
  expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'busy' });
  expect((await lab.proxy.sessions({ limit: 1 })).sessions[0]?.moves).toEqual({ moved: 0 });
  client.socket.destroy();
});

test('a client that waits for a route', async () => {
  const client = await lab.connect('write');
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'busy' });
  client.socket.destroy();
});

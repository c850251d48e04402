// A parked session whose pool has no route costs nothing while it waits, and moves when there is one.
import { afterEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

let backend: FakeBackend;
let lab: ProxyLab;

afterEach(() => lab.end(backend));

test('no timer runs again and again', async () => {
  backend = await startFakeBackend('movable');
  const clock = new ManualClock();
  const open = { write: { open: { 'pg-1': backend.address } } };
  lab = await startProxyLab({ clock, moves: {}, table: open });
  const client = await lab.connect('write');
  await until('the login', async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity === 'idle');
  backend.behaviour = 'full';
  const moved = lab.proxy.move(1);
  await until('a login that the server turned away', () => lab.triggers.length > 0);
  lab.decide({ write: {} });
  await clock.advance(5_000);
  expect(lab.proxy.counts().get('write')?.states).toMatchObject({ parked: 1 });
  // Its limit, and the two of nobody else.
  expect(clock.pending()).toBeLessThan(5);
  backend.behaviour = 'movable';
  lab.decide(open);
  expect(await moved).toMatchObject({ kind: 'moved', from: 'pg-1', to: 'pg-1' });
  client.socket.destroy();
});

// A parked session whose pool has no route costs nothing while it waits, says what it waits for, and moves when there
// is a route.
import { afterEach, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };

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

test('the list has it under the member that it has left, with what it waits for', async () => {
  backend = await startFakeBackend('movable');
  const clock = new ManualClock();
  const open = { write: { open: { 'pg-1': backend.address } } };
  lab = await startProxyLab({ clock, moves: { concurrent: 1, parkTimeoutMs: 30_000 }, table: open });
  const clients = [await lab.connect('write'), await lab.connect('write')];
  const states = async (): Promise<readonly unknown[]> =>
    (await lab.proxy.sessions({ limit: 2 })).sessions.map(({ activity }) => activity);
  await until('both logins', async () => (await states()).every((activity) => activity === 'idle'));
  const waits = async () =>
    (await lab.proxy.sessions({ limit: 2, member: 'pg-1' })).sessions.map(({ moves }) => moves?.underway);
  const underway = { from: 'pg-1', cause: 'operator', isWaiting: false };
  expect(await waits()).toEqual([undefined, undefined]);
  backend.behaviour = 'full';
  const moved = [lab.proxy.move(1), lab.proxy.move(2)];
  await until('two logins that the server turned away', async () =>
    (await waits()).every((one) => one?.waitsFor === 'its next attempt' && one.why?.includes('too many')),
  );
  lab.decide({ write: {} });
  expect(await waits()).toMatchObject([
    { ...underway, waitsFor: 'a route: no eligible member' },
    { ...underway, waitsFor: 'a route: no eligible member' },
  ]);
  await clock.advance(31_000);
  expect(await moved[0]).toMatchObject({
    kind: 'failed',
    reason: 'move_timeout',
    detail: expect.stringMatching(
      /^no next server within 30 s; it waited for a route: no eligible member; pg-1: 53300 .*too many/,
    ),
  });
  expect(await moved[1]).toMatchObject({ kind: 'failed', reason: 'move_timeout' });
  for (const { socket } of clients) socket.destroy();
});

test.each(['connected', 'logged in'])('a server that has left as a session is %s there', async (step) => {
  backend = await startFakeBackend('movable');
  const open = { write: { open: { 'pg-1': backend.address } } };
  const others = { 'pg-1': { address: backend.address, standing: DEAD } };
  let isDue: (() => boolean) | undefined;
  const onDecideIfDue = (): void => {
    if (isDue?.() !== true) return;
    isDue = undefined;
    lab.decide({ write: { others } });
  };
  lab = await startProxyLab({ moves: {}, onDecideIfDue, table: open });
  const client = await lab.connect('write');
  const states = () => lab.proxy.counts().get('write')?.states;
  await until('the login', async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity === 'idle');
  const dials = (): number => lab.events.filter(({ kind }) => kind === 'dial_finished').length;
  isDue = () => states()?.moving === 1 && (step === 'connected' ? dials() === 2 : backend.clients() === 2);
  const moved = lab.proxy.move(1);
  await until('the park', () => lab.reasons().length > 0 || (dials() === 2 && states()?.parked === 1));
  lab.decide(open);
  expect(await moved).toMatchObject({ kind: 'moved', to: 'pg-1' });
  client.socket.destroy();
});

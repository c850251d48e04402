// A fault of Pointsman itself in any callback of a session ends that session alone: sockets, timers, promises and the
// direct relay, from the accept over a hold, a question and a move to the end.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../../../src/model/instant.ts';
import { nothing } from '../../../../src/model/once.ts';
import type { ProxyEvent } from '../../../../src/reports/events.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { FAULT, throwFaults, unownedFaults } from '../../../support/labs/thrown-faults.ts';
import type { Chosen, Faults } from '../../../support/labs/thrown-faults.ts';
import { aMessage } from '../../../support/sockets/messages.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const QUERY = aMessage('Q', Buffer.from('select 1\0'));

let faults: Faults;
let backend: FakeBackend;
let unowned: ProxyEvent[];

beforeEach(async () => {
  backend = await startFakeBackend('movable');
  unowned = unownedFaults();
  faults = throwFaults();
});

afterEach(async () => {
  faults.end();
  await backend.stop();
});

/** Both sessions are held first, then let in; the first one moves, and both go on. The outcome of each. */
async function live(options: ProxyLabOptions, chosen: Chosen = {}): Promise<readonly string[]> {
  const clock = faults.clock(systemClock);
  let hasStarted = false;
  // The self-test of the direct relay has all the time that a busy machine needs.
  const schedule: Clock['schedule'] = (delayMs, run) => (hasStarted ? clock.schedule(delayMs, run) : nothing);
  const lab = await startProxyLab({ clock: { now: () => clock.now(), schedule }, moves: {}, ...options });
  hasStarted = true;
  faults.arm(chosen);
  const clients = [await lab.connect('write'), await lab.connect('write')];
  await until(
    'both are held',
    () => clients.every((client) => client.isClosed) || held(lab) + lab.closed().length >= 2,
  );
  lab.decide({ write: { open: { 'pg-1': backend.address } } });
  await Promise.all(clients.map((client) => answers(client, 'the login')));
  await lab.proxy.move(1);
  await Promise.all(clients.map((client) => answers(client, 'an answer', QUERY)));
  for (const { socket } of clients) socket.end(aMessage('X'));
  await until('the end of both', () => lab.closed().length === 2);
  faults.arm({});
  expect(lab.proxy.tally()).toMatchObject({ sessions: 0 });
  await lab.end();
  return lab.closed().map(({ reason, detail }) => (reason === 'internal_error' ? (detail ?? '') : reason));
}

function held(lab: ProxyLab): number {
  return lab.proxy.counts().get('write')?.states.holding ?? 0;
}

/** Or it is closed. */
async function answers(client: RawClient, what: string, request?: Buffer): Promise<void> {
  const before = client.received().length;
  if (request !== undefined && !client.isClosed) client.socket.write(request);
  const isReady = (): boolean => client.received().length > before || (request === undefined && before > 0);
  await until(what, () => client.isClosed || client.hasEnded || isReady());
}

test.each<[string, ProxyLabOptions]>([
  ['the direct relay', { relay: 'auto' }],
  ['streams', { relay: 'streams' }],
])('%s', { timeout: 120_000 }, async (_title, options) => {
  expect(await live(options)).toEqual(['client_closed', 'client_closed']);
  const sites = [...faults.seen];
  expect(sites.length).toBeGreaterThan(8);
  const wrong: string[] = [];
  for (const isAfter of [false, true]) {
    for (const site of sites) {
      unowned.length = 0;
      const ends = await live(options, { site, isAfter });
      const others = ends.filter((end) => end === 'client_closed').length;
      const isOwn = ends.some((end) => end.includes(FAULT)) && others === 1 && unowned.length === 0;
      // The session is over: nothing is left to end.
      const isPast = isAfter && site.startsWith('close ') && others === 2 && unowned.length === 1;
      // The machine was so busy in the first run that the timer was due.
      const isNotDue = site.startsWith('timer ') && !faults.hasThrown();
      if (!isOwn && !isPast && !isNotDue)
        wrong.push(`${site}, ${isAfter ? 'after' : 'before'}: ${JSON.stringify([ends, unowned])}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a session that fails as it arrives at its next server leaves its turn to the others', async () => {
  const next = await startFakeBackend('movable');
  let isArmed = false;
  const lab = await startProxyLab({
    moves: { concurrent: 1 },
    table: { write: { open: { 'pg-1': backend.address } } },
    onDecideIfDue() {
      if (!isArmed) return;
      const states = lab.proxy.counts().get('write')?.states;
      if (states?.parked !== 1 || states.relaying !== 1) return;
      isArmed = false;
      throw new Error(FAULT);
    },
  });
  const clients = [await lab.connect('write'), await lab.connect('write')];
  await Promise.all(clients.map((client) => answers(client, 'the login')));
  const { address } = backend;
  lab.decide({ write: { others: { 'pg-1': { address, standing: HANDING_OVER } } } });
  await until('both are parked', () => lab.proxy.counts().get('write')?.states.parked === 2);
  for (const { socket } of clients) socket.write(QUERY);
  await until('both wait', async () =>
    (await lab.proxy.sessions({ limit: 2 })).sessions.every(({ moves }) => moves?.underway?.isWaiting),
  );
  isArmed = true;
  lab.decide({ write: { open: { 'pg-2': next.address } } });
  await until('the other one has moved', () => lab.events.some(({ kind }) => kind === 'session_moved'));
  expect(lab.closed()).toMatchObject([{ reason: 'internal_error', detail: expect.stringContaining(FAULT) }]);
  expect(unowned).toEqual([]);
  for (const { socket } of clients) socket.destroy();
  await lab.end(next);
});

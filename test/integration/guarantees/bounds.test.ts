// For any number of clients and any behaviour, the proxy has at most the sockets and timers that its configuration
// allows. Once the clients have gone it has none.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { SSL_REQUEST, aCancelRequest, aStartup } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const MAX_SESSIONS = 60;
const MAX_HELD = 10;
/** Connections that are accepted over the limit of sessions, for an error or for a cancel request. */
const MOST_OVER_LIMIT = 256;
/** One timer for the state of a session, and one for its connect. */
const MOST_TIMERS_PER_CLIENT = 2;
const CLIENTS = 600;

let lab: ProxyLab;
let clock: ManualClock;
let backend: FakeBackend;

beforeEach(async () => {
  clock = new ManualClock();
  backend = await startFakeBackend('echo');
  lab = await startProxyLab({
    clock,
    client: { maxSessions: MAX_SESSIONS },
    hold: { maxSessions: MAX_HELD },
    table: { read: { open: { 'pg-1': backend.address } } },
  });
});

afterEach(() => lab.end(backend));

const FIRST_WORDS: readonly (readonly [string, Buffer])[] = [
  ['write', Buffer.alloc(0)],
  ['write', aStartup().subarray(0, 20)],
  ['write', aStartup()],
  ['read', aStartup()],
  ['read', SSL_REQUEST],
  ['read', aCancelRequest()],
  ['read', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['write', aStartup({ user: 'app', database: 'shop@nowhere' })],
];

function openClients(): number {
  const counts = [...lab.proxy.counts().values()];
  return counts.reduce((sum, { accepted, closed }) => sum + accepted - closed, 0);
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

test('G11: the configuration limits sockets and timers, and none stays', async () => {
  const [socketsBefore, timersBefore] = [sockets(), clock.pending()];
  const clients = [];
  for (let index = 0; index < CLIENTS; index += 1) {
    const [pool = '', words = Buffer.alloc(0)] = FIRST_WORDS[index % FIRST_WORDS.length] ?? [];
    const client = await connectRaw(lab.address(pool));
    client.socket.write(words);
    clients.push(client);
    expect(openClients()).toBeLessThanOrEqual(MAX_SESSIONS + MOST_OVER_LIMIT);
    expect(lab.proxy.counts().get('write')?.states.holding).toBeLessThanOrEqual(MAX_HELD);
    expect(backend.open()).toBeLessThanOrEqual(MAX_SESSIONS + MOST_OVER_LIMIT);
    expect(clock.pending()).toBeLessThanOrEqual(timersBefore + MOST_TIMERS_PER_CLIENT * openClients() + 2);
  }
  await until(
    'every client accepted',
    () => lab.events.filter(({ kind }) => kind === 'client_accepted').length === CLIENTS,
  );
  expect(lab.reasons()).toContain('too_many_sessions');

  for (const { socket } of clients) socket.destroy();
  await until('the end of everybody', () => {
    void clock.advance(100);
    return openClients() === 0 && backend.open() === 0;
  });
  await until('no socket left', () => sockets() <= socketsBefore);
  expect(clock.pending()).toBe(timersBefore);
  expect(lab.events.filter(({ kind }) => kind === 'session_closed')).toHaveLength(CLIENTS);
});

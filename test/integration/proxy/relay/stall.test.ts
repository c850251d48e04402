// Scenario 41: this process stood still. Facts that became known or stale meanwhile count before any bytes that clients
// sent meanwhile.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { SSL_REQUEST, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';
import type { Standing } from '../../../../src/core/standing.ts';

const SILENT: Standing = { kind: 'leave', cause: 'silent', why: { code: 'no_answer' } };

let lab: ProxyLab;
let backend: FakeBackend;
/** Since then the member has been silent for too long, and the process has not checked it. */
let isOverdue: boolean;
/** The member becomes overdue after this many calls of decideIfDue(). */
let callsUntilOverdue: number;

beforeEach(async () => {
  isOverdue = false;
  callsUntilOverdue = Infinity;
  backend = await startFakeBackend('silent');
  const others = { 'pg-1': { address: backend.address, standing: SILENT } };
  lab = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } } },
    onDecideIfDue() {
      callsUntilOverdue -= 1;
      if (callsUntilOverdue < 0) {
        callsUntilOverdue = Infinity;
        isOverdue = true;
      }
      if (!isOverdue) return;
      isOverdue = false;
      lab.decide({ write: { others } });
    },
  });
});

afterEach(() => lab.end(backend));

/** The bytes received, over all connections of the server. */
function received(): number {
  return backend.connections.reduce((sum, { chunks }) => sum + Buffer.concat(chunks).length, 0);
}

async function aClientOf(pool: string): Promise<RawClient> {
  const client = await connectRaw(lab.address(pool));
  // The bytes of a client that does not wait for an answer are relayed at once.
  client.socket.write(Buffer.concat([aStartup(), Buffer.from('ask')]));
  return client;
}

async function aSession(opening: Buffer, answer: string): Promise<RawClient> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(opening);
  await until('the opening', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  backend.last().socket.write(answer);
  await until('the answer', () => client.received().toString() === answer);
  return client;
}

test.each([
  ['plain text', aStartup(), 'x'],
  ['TLS to the server', SSL_REQUEST, 'S'],
])('scenario 41: ages are judged before a byte is forwarded, in %s', async (_, opening, answer) => {
  const client = await aSession(opening, answer);
  isOverdue = true;
  client.socket.write('of a time when nobody looked');
  await until('the end', () => backend.last().isClosed && lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['evicted_silent']);
  expect(backend.last().received().equals(opening)).toBe(true);
});

test('scenario 41: a client that sent in time is served, although its deadline passed during the stall', async () => {
  lab.proxy.close();
  lab = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } } },
    client: { startupTimeoutMs: 500 },
  });
  const client = await connectRaw(lab.address('write'));
  await until('the accept', () => lab.events.some(({ kind }) => kind === 'client_accepted'));
  client.socket.write(aStartup());
  const end = performance.now() + 700;
  while (performance.now() < end);
  await until('an answer', () => backend.connections.length === 1 || errorFields(client.received()) !== undefined);
  expect(errorFields(client.received())).toBeUndefined();
  await until('the startup', () => backend.last().received().equals(aStartup()));
});

test('scenario 41: bytes read before a stop are not written after it', async () => {
  const clients = [];
  for (let count = 0; count < 40; count += 1) clients.push(await aClientOf('write'));
  await until('the sessions', () => received() === clients.length * (aStartup().length + 3));
  // Until the relay collects the bytes of many clients in one turn of the event loop.
  for (let round = 0; round < 40; round += 1) {
    for (const { socket } of clients) socket.write('ask');
    const asked = clients.length * (aStartup().length + 3 * (round + 2));
    await until('the questions', () => received() === asked);
  }
  const before = received();
  callsUntilOverdue = clients.length;
  for (const { socket } of clients) socket.write('ask');
  await until('their ends', () => lab.reasons().length === clients.length);
  await until('at the server too', () => backend.open() === 0);
  expect(received()).toBe(before);
});

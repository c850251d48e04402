// Both ways to relay bytes have the same effect, for any pieces, any stall, and any order of the two ends.
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { BackendConnection, FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { standstill } from '../../../support/waiting/standstill.ts';
import { until } from '../../../support/waiting/until.ts';

type End = 'client' | 'backend';

interface Step {
  readonly by: End;
  readonly what: 'says' | 'stalls' | 'listens';
  readonly bytes: number;
}

const end = fc.constantFrom<End>('client', 'backend');
/** One byte, about one full buffer, and more than the kernel keeps. */
const length = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3000 }) },
  { weight: 4, arbitrary: fc.constantFrom(1023, 1024, 1025, 65_535, 65_536, 65_537, 66_560) },
  { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 5_000_000 }) },
);
const steps = fc.array(
  fc.record<Step>({ by: end, what: fc.constantFrom('says', 'says', 'says', 'stalls', 'listens'), bytes: length }),
  { maxLength: 25 },
);

let lab: ProxyLab;
let backend: FakeBackend;

afterEach(() => lab.end(backend));

interface Talk {
  readonly client: RawClient;
  readonly far: BackendConnection;
}

/** A session and its server side, which is found by the session's name. */
async function aTalk(_: unknown, at: number): Promise<Talk> {
  const client = await connectRaw(lab.address('read'));
  const startup = aStartup({ user: `talker${at}` });
  client.socket.write(startup);
  const far = await until('its session', () =>
    backend.connections.find((connection) => connection.received().equals(startup)),
  );
  return { client, far };
}

/**
 * No server sends this byte. After it the stream is unreadable, and the proxy appends no error after the server's end.
 */
const NO_MESSAGE = Buffer.alloc(1);

async function converse(conversation: readonly Step[], first: End): Promise<void> {
  const connections = backend.connections.length;
  const client = await connectRaw(lab.address('read'));
  client.socket.write(aStartup());
  await until('the session', () => backend.connections.length > connections && backend.last().chunks.length > 0);
  const ends = { client, backend: backend.last() };
  const said = { client: [Buffer.from(aStartup())], backend: [NO_MESSAGE] };
  ends.backend.socket.write(NO_MESSAGE);
  for (const { by, what, bytes } of conversation) {
    const { socket } = ends[by];
    if (what === 'stalls') socket.pause();
    else if (what === 'listens') socket.resume();
    else {
      const words = randomBytes(bytes);
      said[by].push(words);
      socket.write(words);
    }
    if (bytes % 2 === 0) await nextTurn();
  }
  const last = first === 'client' ? 'backend' : 'client';
  for (const { socket } of Object.values(ends)) socket.resume();
  ends[first].socket.end();
  await until('its half-close', () => ends[last].hasEnded, 10_000);
  ends[last].socket.end();
  await until('the end', () => ends.client.isClosed && ends.backend.isClosed, 10_000);
  expect(ends.backend.received().equals(Buffer.concat(said.client))).toBe(true);
  expect(client.received().equals(Buffer.concat(said.backend))).toBe(true);
}

function relayedBytes(): number {
  const { toClientBytes = 0, toBackendBytes = 0 } = lab.proxy.counts().get('read') ?? {};
  return toClientBytes + toBackendBytes;
}

describe.each(['auto', 'streams'] as const)('relay: %s', (relay) => {
  beforeEach(async () => {
    backend = await startFakeBackend('silent');
    lab = await startProxyLab({ table: { read: { open: { 'pg-1': backend.address } } }, relay });
    const isOn = relay === 'auto';
    expect(lab.events).toContainEqual(expect.objectContaining({ kind: 'relay_chosen', isOn }));
  });

  test('G7: bytes that wait for a side that does not read are not overwritten by later bytes', async () => {
    const client = await connectRaw(lab.address('read'));
    client.socket.write(aStartup());
    await until('the session', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
    const ends = [client, backend.last()] as const;
    for (const { socket } of ends) socket.pause();
    const words = randomBytes(16 * 1024 * 1024);
    for (const { socket } of ends) socket.write(words);
    await standstill(relayedBytes);
    for (const { socket } of ends) socket.resume();
    for (const { socket } of ends) socket.end();
    await until('the end', () => ends.every(({ isClosed }) => isClosed), 10_000);
    expect(client.received().equals(words)).toBe(true);
    expect(backend.last().received().subarray(aStartup().length).equals(words)).toBe(true);
  }, 20_000);

  test('G7: many sessions at once, some of which stall, each receive their own bytes', async () => {
    const talkers = await Promise.all(Array.from({ length: 12 }, aTalk));
    for (const [at, { client, far }] of talkers.entries()) {
      if (at % 4 === 0) client.socket.pause();
      far.socket.on('data', (bytes: Buffer) => far.socket.write(bytes));
    }
    const said = talkers.map(() => [] as Buffer[]);
    for (let round = 0; round < 150; round += 1) {
      for (const [at, { client }] of talkers.entries()) {
        const words = randomBytes(at % 4 === 0 ? 60_000 : 1 + ((round * 7 + at) % 900));
        said[at]?.push(words);
        client.socket.write(words);
      }
      await nextTurn();
    }
    for (const { client } of talkers) client.socket.resume();
    for (const [at, { client, far }] of talkers.entries()) {
      const expected = Buffer.concat(said[at] ?? []);
      await until(`talker ${at}`, () => client.socket.bytesRead >= expected.length, 10_000);
      expect(client.received().equals(expected)).toBe(true);
      for (const { socket } of [client, far]) socket.destroy();
    }
    await until('their ends', () => lab.reasons().length === talkers.length);
  }, 30_000);

  test('G7: every byte once and in order, for any pieces, any stall, and either side ending first', async () => {
    await fc.assert(fc.asyncProperty(steps, end, converse), { numRuns: 25 });
    const { length: sessions } = backend.connections;
    await until('their ends', () => lab.reasons().length === sessions);
    expect(lab.proxy.counts().get('read')).toMatchObject({ closed: sessions });
  }, 60_000);
});

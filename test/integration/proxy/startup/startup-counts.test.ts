// The counts of first packets and of startups: each client once, whatever it negotiates.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FIRST_PACKETS, STARTUPS } from '../../../../src/reports/counts.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aCancelRequest, aPacket, aStartup } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;

beforeEach(async () => {
  backend = await startFakeBackend('obliging');
  lab = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } }, read: { open: { 'pg-1': backend.address } } },
  });
});

afterEach(() => lab.end(backend));

/** By name: `startup`, `plain 3.0`. */
function counted(): Readonly<Record<string, number>> {
  const { firstPackets, startups } = lab.proxy.clients();
  const names = [
    ...FIRST_PACKETS,
    ...STARTUPS.map(({ encryption, protocol }) =>
      encryption === 'passthrough' ? encryption : `${encryption} ${protocol}`,
    ),
  ];
  const all = [...firstPackets, ...startups].map((count, index) => [names[index] ?? '', count] as const);
  return Object.fromEntries(all.filter(([, count]) => count > 0));
}

const startup32 = Buffer.from(aStartup());
startup32.writeInt32BE(0x0003_0002, 4);
const CLIENT_HELLO = Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]);

test.each<[string, readonly Uint8Array[], Readonly<Record<string, number>>]>([
  ['a plain startup', [aStartup()], { startup: 1, 'plain 3.0': 1 }],
  ['protocol 3.2', [startup32], { startup: 1, 'plain 3.2': 1 }],
  ['protocol 3.9', [aPacket(0x0003_0009, Buffer.from('user\0u\0\0'))], { startup: 1, 'plain other': 1 }],
  ['declined encryption, twice', [GSSENC_REQUEST, SSL_REQUEST, aStartup()], { gssenc_request: 1, 'plain 3.0': 1 }],
  ['direct TLS', [CLIENT_HELLO], { tls: 1, passthrough: 1 }],
  ['a cancel', [aCancelRequest()], { cancel_request: 1 }],
  ['an offer of one', [aPacket(0x504d0001, Buffer.alloc(8))], { cancel_offer: 1 }],
  ['HTTP', [Buffer.from('GET / HTTP/1.1\r\n\r\n')], { http: 1 }],
])('%s', async (_, packets, expected) => {
  const client = await connectRaw(lab.address('write'));
  for (const packet of packets) {
    const before = client.received().length;
    client.socket.write(packet);
    if (packet !== packets.at(-1)) await until('the answer', () => client.received().length > before);
  }
  await until('the counts', () => JSON.stringify(counted()) === JSON.stringify(expected));
  expect(counted()).toEqual(expected);
});

test('started minus closed are the sessions after their handshake, by the pool that they use', async () => {
  const left = () =>
    ['write', 'read'].map((pool) => {
      const { started = 0, closed = 0 } = lab.proxy.counts().get(pool) ?? {};
      return started - closed;
    });
  const silent = await connectRaw(lab.address('write'));
  await until('the handshake', () => lab.proxy.clients().handshakes === 1);
  expect(left()).toEqual([0, 0]);
  const moved = await lab.connect('write', { user: 'u', database: 'app@ro' });
  await lab.connect('write');
  await until('both sessions', () => left().join() === '1,1');
  moved.socket.destroy();
  await until('its end', () => left().join() === '1,0');
  silent.socket.destroy();
  await until('the end of the silent one', () => lab.reasons().includes('no_startup'));
  expect(left()).toEqual([1, 0]);
  expect(lab.proxy.counts().get('write')).toMatchObject({ accepted: 3, started: 2, closed: 1 });
});

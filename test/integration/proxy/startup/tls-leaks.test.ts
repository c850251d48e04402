// G11: a failed handshake leaves nothing: no socket, no timer, no session.
import type { Socket } from 'node:net';
import { getActiveResourcesInfo } from 'node:process';
import { expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { SSL_REQUEST } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { beginTls, connectDirect, connectTls } from '../../../support/sockets/tls-client.ts';
import { SERVER, tlsText } from '../../../support/values/tls-files.ts';
import type { Address } from '../../../../src/model/member.ts';
import { until } from '../../../support/waiting/until.ts';

const ROUNDS = 20;

/** A client that has read S. */
async function agreed(at: Address): Promise<Socket> {
  const client = await connectRaw(at);
  client.socket.write(SSL_REQUEST);
  await until('S', () => client.received().toString() === 'S');
  return client.socket;
}

const WAYS: readonly (readonly [string, (at: Address) => Promise<Socket>])[] = [
  ['garbage', async (at) => (await agreed(at)).end(Buffer.alloc(1_000, 0x41))],
  ['a record that is never whole', async (at) => (await agreed(at)).end(Uint8Array.of(0x16, 3, 1, 0x40, 0, 1))],
  ['the end', async (at) => (await agreed(at)).end()],
  ['a reset', async (at) => (await agreed(at)).resetAndDestroy()],
  ['silence', agreed],
  ['no trust', async (at) => (await beginTls(at, { ca: tlsText('other-ca.pem') })).socket],
  ['another protocol', async (at) => (await beginTls(at, { ALPNProtocols: ['h2'] })).socket],
  ['direct TLS without ALPN', async (at) => (await connectDirect(at, { ALPNProtocols: [] })).socket],
  ['a handshake, then the end', async (at) => (await connectTls(at)).socket.end()],
  ['a handshake, then a reset', async (at) => (await connectTls(at)).carrier.socket.resetAndDestroy()],
  ['a handshake, then half a packet', async (at) => (await connectTls(at)).socket.end(Uint8Array.of(0, 0, 0))],
];

function sockets(): number {
  return getActiveResourcesInfo().filter((kind) => /TCP|TLS|Shutdown|Write/.test(kind)).length;
}

test('G11: failed handshakes leave nothing', async () => {
  const clock = new ManualClock();
  const backend = await startFakeBackend();
  const table = { write: { open: { 'pg-1': backend.address } } };
  const lab = await startProxyLab({ clock, table, client: { tls: { mode: 'terminate', ...SERVER } } });
  const [before, timers] = [sockets(), clock.pending()];
  const clients: Socket[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    clients.push(...(await Promise.all(WAYS.map(([, leave]) => leave(lab.address('write'))))));
  }
  const all = ROUNDS * WAYS.length;
  await until('the accepts', () => lab.proxy.counts().get('write')?.accepted === all);
  // The deadline ends silent clients; the end of the refusal ends refused ones.
  await clock.advance(10_000);
  await clock.advance(5_000);
  await until('every end', () => lab.closed().length === all);
  for (const client of clients) client.destroy();
  await until('no socket more than before', () => sockets() === before);
  await until('no timer more than before', () => clock.pending() === timers);
  expect(backend.connections).toHaveLength(0);
  expect(lab.reasons()).not.toContain('internal_error');
  lab.proxy.close();
  await backend.stop();
});

// Hosts of clients, and of a server, whose packets vanish. Prints what becomes of their sessions. In a network of its
// own, because of the packets.
import { readFile } from 'node:fs/promises';
import { startFakeBackend } from '../fakes/fake-backend.ts';
import { dropPacketsOfPort } from '../processes/own-network.ts';
import { QUERY } from '../sockets/messages.ts';
import { aStartup } from '../sockets/packets.ts';
import { connectRaw, type RawClient } from '../sockets/raw-client.ts';
import { connectTls } from '../sockets/tls-client.ts';
import { SERVER } from '../values/tls-files.ts';
import { until } from '../waiting/until.ts';
import { monotonicMs } from '../waiting/wait.ts';
import { startProxyLab } from './proxy-lab.ts';
import type { VanishedHosts } from './vanished-hosts.ts';

const LIMIT_MS = 3_000;
/** More than both buffers of the kernel. */
const MUCH = Buffer.alloc(8_000_000);

const backend = await startFakeBackend('echo');
const lab = await startProxyLab({
  // A client of IPv4 is in the table of IPv6 then.
  host: '::',
  client: { tcpUserTimeoutMs: LIMIT_MS, tcpKeepalivesIdleMs: 1_000, tls: { mode: 'terminate', ...SERVER } },
  backend: { tcpUserTimeoutMs: LIMIT_MS },
  table: { write: { open: { 'pg-1': backend.address } } },
});

async function open(dial = connectRaw): Promise<{ readonly client: RawClient; readonly port: number }> {
  const before = lab.proxy.counts().get('write')?.states.relaying ?? 0;
  const client = await dial({ host: '127.0.0.1', port: lab.address('write').port });
  client.socket.write(aStartup());
  await until('its answer', () => client.received().length > 0);
  await until('its session', () => (lab.proxy.counts().get('write')?.states.relaying ?? 0) > before);
  return { client, port: client.socket.localPort ?? 0 };
}

/** The kernel asks its host for room. */
async function isFull(port: number): Promise<boolean> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')} 01 `;
  const rows = (await readFile('/proc/net/tcp6', 'latin1')).split('\n');
  return rows.some((row) => row.includes(end) && / 04:\w+ /.test(row));
}

const idle = await open();
const waiting = await open();
const encrypted = await open(connectTls);
const full = await open();
const slow = await open();
for (const { client } of [full, slow]) client.socket.pause();
for (const connection of backend.connections.slice(3)) connection.socket.write(MUCH);
for (const { port } of [full, slow]) await until('a full window', () => isFull(port));

backend.behaviour = 'obliging';
const asking = await open();
const serverPort = backend.last().socket.remotePort ?? 0;

for (const { port } of [idle, waiting, encrypted, full]) await dropPacketsOfPort(port);
await dropPacketsOfPort(serverPort);
const vanishedAt = monotonicMs();
for (const connection of backend.connections.slice(1, 3)) connection.socket.write('news');
asking.client.socket.write(QUERY);
await until('the end of those with bytes on the way', () => lab.closed().length >= 4, 60_000);
const afterMs = monotonicMs() - vanishedAt;
// By keepalive: ten probes, one per second.
await until('the end of the idle client', () => lab.closed().length >= 5, 60_000);

const found: VanishedHosts = {
  reasons: lab.reasons().toSorted(),
  server: /pointsman: [^\0]*/.exec(asking.client.received().toString('latin1'))?.[0] ?? '',
  triggers: lab.triggers.map(({ kind }) => kind),
  slowClients: lab.proxy.counts().get('write')?.states.relaying ?? 0,
  afterMs: Math.round(afterMs),
};
process.stdout.write(JSON.stringify(found));
// Its sockets end with it, and the rules with its network.
process.exit();

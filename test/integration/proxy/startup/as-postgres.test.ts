// The opening of a connection in all its forms, sent to a real server and to the proxy before it. Both return the same
// bytes. Where PostgreSQL closes without an error, the proxy sends an error that says why. One server of the sandbox;
// the routing table is the test's.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startKeptSandbox } from '../../../support/sandbox/kept-cluster.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import type { Address } from '../../../../src/model/member.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aPacket, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';

const PROTOCOL_3 = 0x00030000;
const CANCEL_REQUEST = 80877102;
const LOGIN = { user: 'app', database: 'app' };
const STARTUP = aStartup(LOGIN);

/** The last thing a server sends before it waits for a password. */
const ASKS_FOR_PASSWORD = Buffer.from('SCRAM-SHA-256\0\0');

function aStartupOf(version: number, parameters: Readonly<Record<string, string>> = LOGIN): Buffer {
  const packet = aStartup(parameters);
  packet.writeInt32BE(version, 4);
  return packet;
}

/** A startup packet of exactly this length. */
function aStartupLong(length: number): Buffer {
  const frame = aStartup({ ...LOGIN, application_name: '' }).length;
  return aStartup({ ...LOGIN, application_name: 'x'.repeat(length - frame) });
}

/** A length word, followed by more bytes than the server reads before it acts on that word. */
function aLength(length: number): Buffer {
  const packet = Buffer.alloc(24, 1);
  packet.writeUInt32BE(length, 0);
  return packet;
}

const isOver = ({ hasEnded, isClosed }: RawClient): boolean => hasEnded || isClosed;

/** Resolves when the kernel has accepted the bytes. */
async function write({ socket }: RawClient, bytes: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.write(bytes, () => resolve());
  await promise;
}

/** Sends the parts one after the other, and waits for an answer to each. */
async function converse(to: Address, parts: readonly Uint8Array[]) {
  const client = await connectRaw(to);
  client.socket.setNoDelay();
  for (const part of parts) {
    const before = client.received().length;
    client.socket.write(part);
    await until('an answer', () => client.received().length > before || isOver(client));
  }
  await until('the last answer', () => client.received().includes(ASKS_FOR_PASSWORD) || isOver(client));
  client.socket.destroy();
  return { said: client.received().toString('latin1'), isOver: isOver(client), client };
}

describeUnless(missingForSandbox, 'the answers of PostgreSQL', () => {
  let sandbox: Sandbox;
  let lab: ProxyLab;
  let server: Address;

  beforeAll(async () => {
    sandbox = await startKeptSandbox({ members: 1 });
    const [member] = sandbox.members;
    if (member === undefined) throw new Error('a sandbox without a member');
    server = { host: member.host, port: member.port };
    lab = await startProxyLab({ table: { write: { open: { [member.name]: server } } } });
  }, 60_000);

  afterAll(async () => {
    lab.proxy.close();
    await sandbox.stop();
  });

  test.each<[string, readonly Buffer[], RegExp]>([
    ['protocol 3.0', [STARTUP], /^R/],
    ['SSLRequest', [SSL_REQUEST, STARTUP], /^NR/],
    ['GSSENCRequest', [GSSENC_REQUEST, STARTUP], /^NR/],
    ['GSSENCRequest, then SSLRequest', [GSSENC_REQUEST, SSL_REQUEST, STARTUP], /^NNR/],
    ['SSLRequest, then GSSENCRequest', [SSL_REQUEST, GSSENC_REQUEST, STARTUP], /^NNR/],
    ['direct TLS, which this server does not have', [Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])], /^$/],
    ['protocol 3.2', [aStartupOf(0x00030002)], /^R/],
    ['a minor version that is not there yet', [aStartupOf(0x00030009)], /^v.*R/s],
    ['_pq_. options', [aStartup({ ...LOGIN, '_pq_.something': '1' })], /^v.*_pq_\.something.*R/s],
    ['protocol 2', [aStartupOf(0x00020000)], /^E.*2\.0/s],
    ['protocol 4', [aStartupOf(0x00040000)], /^E.*4\.0/s],
    ['another code beside SSLRequest', [aPacket(80877105)], /^E.*1234\.5681/s],
    ['a replication connection', [aStartup({ ...LOGIN, replication: 'true' })], /^R/],
    ['no user', [aStartup({ database: 'app' })], /^E.*28000/s],
    ['no terminator', [aPacket(PROTOCOL_3, Buffer.from('user\0app'))], /^E.*08P01/s],
    ['bytes behind the terminator', [aPacket(PROTOCOL_3, Buffer.from('user\0app\0\0x'))], /^E.*08P01/s],
    ['a cancel request with an unknown key', [aPacket(CANCEL_REQUEST, Buffer.alloc(8, 3))], /^$/],
  ])('scenario 31: %s', async (_, parts, expected) => {
    const direct = await converse(server, parts);
    const through = await converse(lab.address('write'), parts);
    expect(direct.said).toMatch(expected);
    expect(through.said).toBe(direct.said);
    expect(through.isOver).toBe(direct.isOver);
  });

  test.each<[string, readonly Buffer[], RegExp]>([
    ['SSLRequest twice', [SSL_REQUEST, SSL_REQUEST], /^NE.*1234\.5679/s],
    ['GSSENCRequest twice', [GSSENC_REQUEST, GSSENC_REQUEST], /^NE.*1234\.5680/s],
    ['SSLRequest, GSSENCRequest, SSLRequest', [SSL_REQUEST, GSSENC_REQUEST, SSL_REQUEST], /^NNE.*1234\.5679/s],
  ])('scenario 31: %s: refused by PostgreSQL, and by the proxy without another request', async (_, parts, expected) => {
    const direct = await converse(server, parts);
    const through = await converse(lab.address('write'), parts);
    expect(direct.said).toMatch(expected);
    expect(direct.said).toContain('C0A000');
    const answers = parts.length - 1;
    expect(through.said.slice(0, answers)).toBe('N'.repeat(answers));
    expect(errorFields(through.client.received().subarray(answers))).toMatchObject({ C: '0A000' });
    expect(through.isOver).toBe(direct.isOver);
  });

  test.each<[string, Buffer, RegExp]>([
    ['8 bytes', aPacket(PROTOCOL_3), /^E.*08P01/s],
    ['9 bytes', aPacket(PROTOCOL_3, Buffer.alloc(1)), /^E.*28000/s],
    ['10003 bytes', aStartupLong(10_003), /^R/],
    ['10004 bytes', aStartupLong(10_004), /^R/],
  ])('scenario 33: %s: accepted, with the answer of PostgreSQL', async (_, packet, expected) => {
    const direct = await converse(server, [packet]);
    const through = await converse(lab.address('write'), [packet]);
    expect(direct.said).toMatch(expected);
    expect(through.said).toBe(direct.said);
    expect(through.isOver).toBe(direct.isOver);
  });

  test.each<[string, Buffer]>([
    ['0 bytes', aLength(0)],
    ['7 bytes', aLength(7)],
    ['10005 bytes', aStartupLong(10_005)],
    ['0x7fffffff bytes', aLength(0x7fffffff)],
    ['0x80000000 bytes', aLength(0x80000000)],
    ['a cancel request without a key', aPacket(CANCEL_REQUEST, Buffer.alloc(4, 3))],
    ['a cancel request with a key of 257 bytes', aPacket(CANCEL_REQUEST, Buffer.alloc(4 + 257))],
  ])('scenario 33: %s: PostgreSQL closes without an error; the proxy closes with one', async (_, packet) => {
    expect(await converse(server, [packet])).toMatchObject({ said: '', isOver: true });
    const { client } = await converse(lab.address('write'), [packet]);
    expect(isOver(client)).toBe(true);
    expect(errorFields(client.received())).toMatchObject({
      C: '08P01',
      D: expect.stringMatching(/^invalid length of (startup packet|cancel request): -?\d+$/),
    });
  });

  test.each([
    ['an ordinary one', STARTUP],
    ['the longest', aStartupLong(10_004)],
  ])('scenario 33: one byte at a time: %s', async (_, packet) => {
    const direct = await converse(server, [packet]);
    const client = await connectRaw(lab.address('write'));
    client.socket.setNoDelay();
    for (const byte of packet) await write(client, Buffer.of(byte));
    await until('the answer', () => client.received().includes(ASKS_FOR_PASSWORD));
    expect(client.received().toString('latin1')).toBe(direct.said);
    client.socket.destroy();
  });
});

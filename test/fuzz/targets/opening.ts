// The first bytes of a client: the header of the PROXY protocol, and the packets that begin a session.
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { requestedKey, cancelOffer, cancelRequest } from '../../../src/wire/messages/cancel-key.ts';
import { readPoolRequest } from '../../../src/wire/startup/pool-request.ts';
import { recognise, roleOf, startupParameters } from '../../../src/wire/startup/startup.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aCancelRequest, aProxyHeader, aStartup } from '../../support/sockets/packets.ts';
import { piecesOf, type FuzzTarget } from '../target.ts';

/** MAX_STARTUP_PACKET_LENGTH, and the length word. */
const LONGEST_PACKET = 10_004;
const LONGEST_HEADER = 2_048;

const V4 = Buffer.from([192, 0, 2, 7, 198, 51, 100, 1, 0xdc, 4, 0x15, 0x38]);

function check(input: Uint8Array): void {
  const whole = recognise(input);
  let length = 0;
  for (const piece of piecesOf(input)) {
    length += piece.length;
    const soFar = recognise(input.subarray(0, length));
    if (soFar.kind !== 'need_more') assert.deepEqual(soFar, whole);
  }
  if ('length' in whole) {
    assert(whole.length <= Math.min(input.length, whole.kind === 'proxy_header' ? LONGEST_HEADER : LONGEST_PACKET));
    assert.equal(recognise(input.subarray(0, whole.length - 1)).kind, 'need_more');
  }
  if (whole.kind === 'need_more') assert(input.length < LONGEST_PACKET);
  if (whole.kind === 'proxy_header' && whole.source !== undefined) {
    assert.notEqual(isIP(whole.source.host), 0);
    assert(whole.source.port >= 0 && whole.source.port <= 65_535);
  }
  if (whole.kind === 'startup') checkStartup(input.subarray(0, whole.length));
  if (whole.kind === 'cancel_request' || whole.kind === 'cancel_offer')
    checkCancel(input.subarray(0, whole.length), whole.kind === 'cancel_offer' ? cancelOffer : cancelRequest);
}

function checkCancel(packet: Uint8Array, encode: typeof cancelRequest): void {
  const key = requestedKey(packet);
  if (key !== undefined) assert.deepEqual(Buffer.from(encode(key)), Buffer.from(packet));
}

function checkStartup(packet: Uint8Array): void {
  const parameters = startupParameters(packet);
  assert(parameters.size <= packet.length / 2);
  assert(Buffer.byteLength(roleOf(packet)) <= 3 * 63);
  const { forwarded, poolRequest, database, user } = readPoolRequest(packet);
  if (poolRequest === undefined) return assert.equal(forwarded, packet);
  assert(forwarded.length < packet.length);
  // It is the same packet without what names the pool.
  const again = recognise(forwarded);
  assert(again.kind === 'startup' && again.length === forwarded.length);
  const kept = startupParameters(forwarded);
  assert.equal(kept.get('user') ?? '', user ?? '');
  if (poolRequest.from === 'database') assert.equal(kept.get('database') ?? '', database ?? '');
  for (const [name, value] of kept) {
    if (name !== 'database' && name !== 'options') assert.equal(value, parameters.get(name));
  }
  assert(!kept.has('pointsman.pool'));
  return undefined;
}

export const opening: FuzzTarget = {
  name: 'opening',
  covers: ['wire/startup/', 'wire/messages/'],
  longest: 12_000,
  seeds: [
    SSL_REQUEST,
    GSSENC_REQUEST,
    aCancelRequest(4),
    aCancelRequest(32),
    Buffer.from(cancelOffer({ processId: 42, secret: 'abcd' })),
    aStartup({ user: 'app', database: 'shop@ro', application_name: 'x' }),
    aStartup({ user: 'app', database: 'shop%40rw', 'pointsman.pool': 'ro', options: '-c pointsman.pool=ro -cb=1' }),
    aStartup({ user: 'ü'.repeat(40), options: String.raw`--Pointsman.pool=a\ b -c a=\\ -D x -e` }, 0x00030002),
    Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 56324 5432\r\n'),
    Buffer.from('PROXY TCP6 2001:db8::1 ::ffff:1.2.3.4 1 65535\r\n'),
    Buffer.from('PROXY UNKNOWN\r\n'),
    aProxyHeader(0x21, 0x11, V4, Buffer.from([4, 0, 1, 0])),
    aProxyHeader(0x21, 0x11, V4, Buffer.from([3, 0, 4, 1, 2, 3, 4])),
    aProxyHeader(0x21, 0x21, Buffer.alloc(36, 1)),
    aProxyHeader(0x20, 0),
    Buffer.from('GET / HTTP/1.1\r\n'),
    Buffer.from([0x16, 3, 1, 0, 5]),
  ],
  words: [
    'user\0',
    'database\0',
    'options\0',
    'pointsman.pool',
    '@',
    '%40',
    '@ro\0',
    '-c ',
    '--',
    '\\',
    '\0\0',
    '\r\n',
    ' ::1 ',
  ],
  check,
};

import { expect, test } from 'vitest';
import { recognise, roleOf, startupParameters } from '../../../../src/wire/startup/startup.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aCancelRequest, aPacket, aStartup } from '../../../support/sockets/packets.ts';

function ofLength(length: number): Buffer {
  const packet = Buffer.alloc(Math.max(8, Math.min(length, 20_000)));
  packet.writeInt32BE(length, 0);
  packet.writeInt32BE(0x00030000, 4);
  return packet;
}

test.each([
  ['SSLRequest', SSL_REQUEST, { kind: 'ssl_request', length: 8 }],
  ['GSSENCRequest', GSSENC_REQUEST, { kind: 'gssenc_request', length: 8 }],
  ['CancelRequest with a key of 4 bytes', aCancelRequest(4), { kind: 'cancel_request', length: 16 }],
  ['CancelRequest with a key of 32 bytes (3.2)', aCancelRequest(32), { kind: 'cancel_request', length: 44 }],
  ['CancelRequest with a key of 256 bytes', aCancelRequest(256), { kind: 'cancel_request', length: 268 }],
  ['CancelRequest without a key', aCancelRequest(0), { kind: 'invalid', why: 'invalid length of cancel request: 12' }],
  [
    'CancelRequest with a key too long',
    aCancelRequest(257),
    { kind: 'invalid', why: 'invalid length of cancel request: 269' },
  ],
  ['an offer of another Pointsman', aPacket(0x504d0001, Buffer.alloc(8)), { kind: 'cancel_offer', length: 16 }],
  [
    'an offer without a key',
    aPacket(0x504d0001, Buffer.alloc(4)),
    { kind: 'invalid', why: 'invalid length of cancel request: 12' },
  ],
  ['protocol 3.2', aPacket(0x00030002), { kind: 'startup', length: 8, major: 3, minor: 2 }],
  ['protocol 2', aPacket(0x00020000), { kind: 'startup', length: 8, major: 2, minor: 0 }],
  ['an unknown major', aPacket(0x7fff0001), { kind: 'startup', length: 8, major: 0x7fff, minor: 1 }],
  [
    'a packet and more behind it',
    Buffer.concat([SSL_REQUEST, Buffer.from('more')]),
    { kind: 'ssl_request', length: 8 },
  ],
  ['direct TLS', Buffer.from([0x16]), { kind: 'tls' }],
  [
    'a header of a load balancer',
    Buffer.from('PROXY UNKNOWN\r\n'),
    { kind: 'proxy_header', length: 15, source: undefined },
  ],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n'), { kind: 'http' }],
  ['HTTP with a body', Buffer.from('POST'), { kind: 'http' }],
  [
    'text that is not HTTP',
    Buffer.from('SELECT 1'),
    { kind: 'invalid', why: 'invalid length of startup packet: 1397050437' },
  ],
  ['nothing', Buffer.alloc(0), { kind: 'need_more' }],
  ['three bytes', Buffer.from([0, 0, 0]), { kind: 'need_more' }],
  ['all but the last byte', aStartup().subarray(0, -1), { kind: 'need_more' }],
])('%s', (_, bytes, expected) => {
  expect(recognise(bytes)).toEqual(expected);
});

// PostgreSQL: the length word counts itself; PostgreSQL accepts 8 to 10 004.
test.each([
  [7, 'invalid'],
  [8, 'startup'],
  [9, 'startup'],
  [10_003, 'startup'],
  [10_004, 'startup'],
  [10_005, 'invalid'],
  [0, 'invalid'],
  [-1, 'invalid'],
  [0x7fffffff, 'invalid'],
  [-0x80000000, 'invalid'],
])('a startup packet of length %d is %s', (length, kind) => {
  expect(recognise(ofLength(length)).kind).toBe(kind);
});

test('a packet inside a larger buffer is read at its own offset', () => {
  const inside = Buffer.concat([Buffer.alloc(3, 0xff), SSL_REQUEST]).subarray(3);
  expect(recognise(inside)).toEqual({ kind: 'ssl_request', length: 8 });
});

test('parameters are read by name, empty values included', () => {
  const parameters = startupParameters(aStartup({ user: 'app', options: '', database: 'shöp' }));
  expect([...parameters]).toEqual([
    ['user', 'app'],
    ['options', ''],
    ['database', 'shöp'],
  ]);
});

test.each([
  ['no terminator', Buffer.from('user\0app')],
  ['a name without a value', Buffer.from('user\0app\0database')],
  ['nothing at all', Buffer.alloc(0)],
])('a broken layout is read up to the break: %s', (_, body) => {
  const parameters = startupParameters(aPacket(0x00030000, body));
  expect(parameters.get('database') ?? '').toBe('');
});

test.each([
  ['app', 'app'],
  ['a'.repeat(63), 'a'.repeat(63)],
  ['a'.repeat(64), 'a'.repeat(63)],
  ['a'.repeat(9_000), 'a'.repeat(63)],
  ['ü'.repeat(31), 'ü'.repeat(31)],
])('a role of a startup packet is cut as PostgreSQL cuts it: %s', (user, role) => {
  expect(roleOf(aStartup({ user }))).toBe(role);
});

test('a packet without a role has none, and bytes behind its end are no parameters', () => {
  expect(roleOf(aPacket(0x00030000, Buffer.from('database\0app\0\0')))).toBe('');
  expect([...startupParameters(aPacket(0x00030000, Buffer.from('a\0b\0\0user\0x\0')))]).toEqual([['a', 'b']]);
});

import { expect, test } from 'vitest';
import {
  describeUnknown,
  readStartupParameters,
  StartupPackets,
} from '../../../../src/proxy/startup/startup-parameters.ts';
import { aPacket, aStartup } from '../../../support/sockets/packets.ts';

test.each([
  ['both', { user: 'app', database: 'shop@ro' }, { user: 'app', database: 'shop' }, { name: 'ro', from: 'database' }],
  ['no database: the server takes the name of the user', { user: 'app' }, { user: 'app', database: 'app' }, undefined],
  [
    'a pool request alone',
    { user: 'app', database: '@ro' },
    { user: 'app', database: 'app' },
    { name: 'ro', from: 'database' },
  ],
  ['neither', { application_name: 'x' }, {}, undefined],
])('%s', (_, parameters, login, poolRequest) => {
  expect(readStartupParameters(aStartup(parameters))).toMatchObject({ names: { login }, poolRequest });
});

test('a packet with a broken layout still gives the user', () => {
  const packet = aPacket(0x00030000, Buffer.from('user\0app\0database\0shop@ro'));
  expect(readStartupParameters(packet)).toEqual({
    names: { login: { user: 'app', database: 'app' }, application: undefined },
    poolRequest: undefined,
    forwarded: packet,
  });
});

test('reported names are cut to 63 bytes, between two characters, and printable; forwarded names are not', () => {
  const packet = aStartup({ user: 'ü'.repeat(40), database: `\u0001\n\u001b[31m\u202e${'x'.repeat(9_000)}` });
  const { names, forwarded } = readStartupParameters(packet);
  expect(names.login).toEqual({
    user: 'ü'.repeat(31),
    database: `\\u0001\\u000a\\u001b[31m\\u202e${'x'.repeat(63 - 10)}`,
  });
  expect(forwarded).toBe(packet);
});

test('equal packets are one object, which keeps its own bytes', () => {
  const packets = new StartupPackets();
  const received = new Uint8Array(aStartup({ user: 'app', database: 'shop@ro' }));
  const first = packets.read(received);
  expect(first).toEqual(readStartupParameters(received));
  expect(packets.read(new Uint8Array(received))).toBe(first);
  const { forwarded } = packets.read(new Uint8Array(aStartup({ user: 'app', database: 'shop' })));
  expect(forwarded).toEqual(first.forwarded);
  received.fill(0);
  expect(first.forwarded).toEqual(forwarded);
});

test('a client that requests an unknown pool reads the known ones', () => {
  expect(describeUnknown('foo', ['write', 'read'])).toBe(
    'no pool named "foo"; available: write, read, rw (write), ro (read)',
  );
  expect(describeUnknown('foo', ['read', 'ro'])).toBe('no pool named "foo"; available: read, ro');
  expect(describeUnknown('x'.repeat(9_000), ['write']).length).toBeLessThan(200);
  expect(describeUnknown('ro\n{"level":"fatal"}', ['write'])).toMatch(/^no pool named "ro\\u000a\{"level/);
});

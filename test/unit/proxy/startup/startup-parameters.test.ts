import { expect, test } from 'vitest';
import { readStartupParameters } from '../../../../src/proxy/startup/startup-parameters.ts';
import { aPacket, aStartup } from '../../../support/sockets/packets.ts';

test.each([
  ['both', { user: 'app', database: 'shop@ro' }, { user: 'app', database: 'shop' }, { name: 'ro', from: 'database' }],
  ['no database: the server takes the name of the user', { user: 'app' }, { user: 'app', database: 'app' }, undefined],
  [
    'a target alone',
    { user: 'app', database: '@ro' },
    { user: 'app', database: 'app' },
    { name: 'ro', from: 'database' },
  ],
  ['neither', { application_name: 'x' }, {}, undefined],
])('%s', (_, parameters, login, target) => {
  expect(readStartupParameters(aStartup(parameters))).toMatchObject({ login, target });
});

test('of a packet that PostgreSQL refuses for its layout the user is still told', () => {
  const packet = aPacket(0x00030000, Buffer.from('user\0app\0database\0shop@ro'));
  expect(readStartupParameters(packet)).toEqual({
    login: { user: 'app', database: 'app' },
    target: undefined,
    forwarded: packet,
  });
});

test('what is told of a client is cut to 63 bytes, between two characters, and printable; what is forwarded is not', () => {
  const packet = aStartup({ user: 'ü'.repeat(40), database: `\u0001\n\u001b[31m\u202e${'x'.repeat(9_000)}` });
  const { login, forwarded } = readStartupParameters(packet);
  expect(login).toEqual({
    user: 'ü'.repeat(31),
    database: `\\u0001\\u000a\\u001b[31m\\u202e${'x'.repeat(63 - 10)}`,
  });
  expect(forwarded).toBe(packet);
});

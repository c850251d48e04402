import { expect, test } from 'vitest';
import { readSaid } from '../../../src/proxy/said.ts';
import { aPacket, aStartup } from '../../support/packets.ts';

test.each([
  ['both', { user: 'app', database: 'shop@ro' }, { user: 'app', database: 'shop' }, 'ro'],
  ['no database: the server takes the name of the user', { user: 'app' }, { user: 'app', database: 'app' }, undefined],
  ['a target alone', { user: 'app', database: '@ro' }, { user: 'app', database: 'app' }, 'ro'],
  ['neither', { application_name: 'x' }, {}, undefined],
])('%s', (_, parameters, login, target) => {
  expect(readSaid(aStartup(parameters))).toMatchObject({ login, target });
});

test('of a packet that PostgreSQL refuses for its layout the user is still told', () => {
  const packet = aPacket(0x00030000, Buffer.from('user\0app\0database\0shop@ro'));
  expect(readSaid(packet)).toEqual({ login: { user: 'app', database: 'app' }, target: undefined, forwarded: packet });
});

import { expect, test } from 'vitest';
import { readPoolRequest } from '../../../../src/wire/startup/pool-request.ts';
import { aPacket, aStartup } from '../../../support/sockets/packets.ts';

function forwarded(packet: Uint8Array): Buffer {
  return Buffer.from(readPoolRequest(packet).forwarded);
}

test.each([
  ['app', 'app', undefined],
  ['app@ro', 'app', 'ro'],
  ['app@rw', 'app', 'rw'],
  ['app@analytics', 'app', 'analytics'],
  ['app%40ro', 'app', 'ro'],
  ['a@b@ro', 'a@b', 'ro'],
  ['a%40b@ro', 'a%40b', 'ro'],
  ['a@b%40ro', 'a@b', 'ro'],
  ['shöp@größer', 'shöp', 'größer'],
  // The caller knows the pools, so an empty name counts as a name too.
  ['app@', 'app', ''],
  // The server uses the user's name.
  ['@ro', undefined, 'ro'],
  ['app%4', 'app%4', undefined],
  ['app%41ro', 'app%41ro', undefined],
  ['app%50ro', 'app%50ro', undefined],
  ['app140ro', 'app140ro', undefined],
])('database %s: %s and pool %s', (database, expected, name) => {
  const packet = aStartup({ user: 'u@v', database, application_name: 'x@y' });
  const poolRequest = name === undefined ? undefined : { name, from: 'database' };
  expect(readPoolRequest(packet)).toMatchObject({ database: expected, poolRequest });
  expect(forwarded(packet)).toEqual(aStartup({ user: 'u@v', database: expected ?? '', application_name: 'x@y' }));
});

test.each([
  ['-c pointsman.pool=ro', '', 'ro'],
  ['-cpointsman.pool=ro', '', 'ro'],
  ['--pointsman.pool=ro', '', 'ro'],
  ['  -c \t pointsman.pool=ro ', '  ', 'ro'],
  ['-c Pointsman.POOL=Ro', '', 'Ro'],
  ['-c\rpointsman.pool=ro\t-e', '-e', 'ro'],
  ['-c pointsman.pool=a\u0001b', '', 'a\u0001b'],
  ['\\-c pointsman.pool=ro', '', 'ro'],
  ['-c pointsman.pool=my\\ pool', '', 'my pool'],
  ['-c pointsman.pool=a\\\\b', '', 'a\\b'],
  ['-c pointsman.pool=a=b', '', 'a=b'],
  ['-c pointsman.pool=', '', ''],
  ['-c geqo=off -c pointsman.pool=ro', '-c geqo=off ', 'ro'],
  ['-c pointsman.pool=ro  -c geqo=off', '-c geqo=off', 'ro'],
  ['-c geqo=off  --pointsman.pool=ro   -e', '-c geqo=off  -e', 'ro'],
  ['-c search_path=a\\  -c pointsman.pool=ro', '-c search_path=a\\  ', 'ro'],
  ['-c pointsman.pool=a -c pointsman.pool=b', '', 'b'],
  ['-e -c pointsman.pool=a -c pointsman.pool=b', '-e ', 'b'],
  ['-c pointsman.pool=a -e -c pointsman.pool=b -F', '-e -F', 'b'],
])('options %s: forwarded as %s, pool %s', (options, expected, name) => {
  const packet = aStartup({ user: 'u', options, database: 'app' });
  expect(readPoolRequest(packet)).toMatchObject({ database: 'app', poolRequest: { name, from: 'options' } });
  expect(forwarded(packet)).toEqual(aStartup({ user: 'u', options: expected, database: 'app' }));
});

test.each([
  ['no value', '-c pointsman.pool'],
  ['no assignment', '-c'],
  ['another name', '-c pointsman.pools=ro --my.pointsman.pool=ro'],
  ['the value of another switch', '-c work_mem=1 -D -cpointsman.pool=ro'],
  ['the value of a switch that is no setting', '-D pointsman.pool=ro'],
  ['the value of another setting', '-c -cpointsman.pool=ro'],
  ['no switch', 'pointsman.pool=ro'],
  ['two letters that are no switch', 'ccpointsman.pool=ro'],
  ['an escaped space', '-c\\ pointsman.pool=ro -c a=b\\ -cpointsman.pool=ro'],
  ['nothing', ''],
])('options that name no pool: %s', (_, options) => {
  const packet = aStartup({ user: 'u', options });
  expect(readPoolRequest(packet)).toMatchObject({ database: undefined, poolRequest: undefined });
  expect(readPoolRequest(packet).forwarded).toBe(packet);
});

test.each([
  ['options first', ['options', 'database']],
  ['database first', ['database', 'options']],
])('both may name a pool: the database has precedence, and neither is forwarded (%s)', (_, order) => {
  const packetOf = (values: Readonly<Record<string, string>>): Buffer =>
    aStartup(Object.fromEntries(order.map((name) => [name, values[name] ?? ''])));
  const packet = packetOf({ options: '-c pointsman.pool=rw -e', database: 'app@ro' });
  expect(readPoolRequest(packet)).toMatchObject({ database: 'app', poolRequest: { name: 'ro', from: 'database' } });
  expect(forwarded(packet)).toEqual(packetOf({ options: '-e', database: 'app' }));
});

test.each([
  ['pointsman.pool', 'ro'],
  ['Pointsman.POOL', 'Ro'],
  ['pointsman.pool', ''],
])('parameter %s=%s of its own: read like options, and removed', (parameter, name) => {
  const packet = aStartup({ user: 'u', [parameter]: name, database: 'app' });
  expect(readPoolRequest(packet)).toMatchObject({ database: 'app', poolRequest: { name, from: 'parameter' } });
  expect(forwarded(packet)).toEqual(aStartup({ user: 'u', database: 'app' }));
});

test('a parameter has precedence over options, and the database over both; none of them is forwarded', () => {
  const said = { 'pointsman.pool': 'a', options: '-c pointsman.pool=b -e', user: 'u' };
  expect(readPoolRequest(aStartup(said)).poolRequest).toEqual({ name: 'a', from: 'parameter' });
  expect(forwarded(aStartup(said))).toEqual(aStartup({ options: '-e', user: 'u' }));
  const all = { ...said, database: 'app@c', 'POINTSMAN.pool': 'd' };
  expect(readPoolRequest(aStartup(all)).poolRequest).toEqual({ name: 'c', from: 'database' });
  expect(forwarded(aStartup(all))).toEqual(aStartup({ options: '-e', user: 'u', database: 'app' }));
});

test('a parameter of another name is forwarded', () => {
  const packet = aStartup({ user: 'u', 'pointsman.pools': 'ro', 'my.pointsman.pool': 'ro', pointsman_pool: 'ro' });
  expect(readPoolRequest(packet)).toMatchObject({ poolRequest: undefined, forwarded: packet });
});

test('the last database counts, as in PostgreSQL', () => {
  const packet = aPacket(0x00030002, Buffer.from('database\0a@ro\0database\0b\0\0'));
  expect(readPoolRequest(packet)).toMatchObject({ database: 'b', poolRequest: undefined });
  expect(readPoolRequest(packet).forwarded).toBe(packet);
});

test('bytes that are no UTF-8 stay as they are', () => {
  const asked = Buffer.from('database\0\xe4\xff@ro\0user\0\xff\0\0', 'latin1');
  const plain = Buffer.from('database\0\xe4\xff\0user\0\xff\0\0', 'latin1');
  expect(forwarded(aPacket(0x00030000, asked))).toEqual(aPacket(0x00030000, plain));
});

test.each([
  ['no terminator', aPacket(0x00030000, Buffer.from('database\0app@ro\0'))],
  ['something behind the terminator', aPacket(0x00030000, Buffer.from('database\0app@ro\0\0x\0'))],
  ['a value cut short', aPacket(0x00030000, Buffer.from('database\0app@ro'))],
  ['a name alone', aPacket(0x00030000, Buffer.from('database\0'))],
  ['nothing', aPacket(0x00030000)],
  ['a name cut short', aPacket(0x00030000, Buffer.from('database'))],
  ['a name of more than 256 bytes cut short', aPacket(0x00030002, Buffer.alloc(300, 'x'))],
  ['another major version', aPacket(0x00020000, Buffer.from('database\0app@ro\0\0'))],
  ['a major version of two bytes', aPacket(0x01030000, Buffer.from('database\0app@ro\0\0'))],
])('a packet that PostgreSQL refuses is forwarded as it is: %s', (_, packet) => {
  expect(readPoolRequest(packet)).toMatchObject({ database: undefined, poolRequest: undefined });
  expect(readPoolRequest(packet).forwarded).toBe(packet);
});

test('a packet inside a larger buffer is read at its own offset', () => {
  const packet = aStartup({ user: 'u', database: 'app@ro' });
  const inside = Buffer.concat([Buffer.alloc(3, 0xff), packet, Buffer.from('more')]).subarray(3, 3 + packet.length);
  expect(readPoolRequest(inside).poolRequest?.name).toBe('ro');
  expect(forwarded(inside)).toEqual(aStartup({ user: 'u', database: 'app' }));
});

test('names that resemble others are others, and say nothing', () => {
  const said = { user: 'u', database: 'd', application_name: 'a', options: '-e' };
  const others = { use: 'x', userx: 'x', usxr: 'x', databasx: 'x@y', databases: 'x@y' };
  const more = { application_nams: 'x', application_names: 'x', optionx: '-c pointsman.pool=x', options_: '-c a=b' };
  expect(readPoolRequest(aStartup({ ...said, ...others, ...more }))).toMatchObject({
    user: 'u',
    database: 'd',
    application: 'a',
    poolRequest: undefined,
  });
  expect(readPoolRequest(aStartup({ use: 'x', database: 'd', '@ro': 'x' }))).toMatchObject({
    user: undefined,
    database: 'd',
    application: undefined,
    poolRequest: undefined,
  });
});

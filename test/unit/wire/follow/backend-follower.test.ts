import { expect, test } from 'vitest';
import { BackendFollower } from '../../../../src/wire/follow/backend-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { UnansweredMessages } from '../../../../src/wire/follow/unanswered.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  aMessage,
  aNumber,
  backendKeyData,
  COMMAND_COMPLETE,
  DATA_ROW,
  errorOf,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';

function after(...messages: readonly Uint8Array[]): BackendFollower {
  const follower = new BackendFollower(new UnansweredMessages());
  for (const message of messages) follower.walk(message);
  return follower;
}

test('a session is authenticated by AuthenticationOk and by no other request', () => {
  expect(after().isAuthenticated()).toBe(false);
  expect(after(AUTHENTICATION_SASL).isAuthenticated()).toBe(false);
  expect(after(AUTHENTICATION_SASL, AUTHENTICATION_OK).isAuthenticated()).toBe(true);
});

test.each([
  ['I', 'idle'],
  ['T', 'open'],
  ['E', 'failed'],
])('ReadyForQuery %s gives %s', (status, transaction) => {
  const follower = after(readyForQuery('I'), DATA_ROW, readyForQuery(status));
  expect(follower.transaction()).toBe(transaction);
});

test('an unknown status is nonsense', () => {
  const follower = after(readyForQuery('I'), readyForQuery('X'));
  expect(follower.isFollowing()).toBe(false);
  expect(follower.transaction()).toBe('idle');
});

test.each([4, 32, 256])('a cancel key of %d bytes is kept as a copy', (length) => {
  const message = backendKeyData(-7, Buffer.alloc(length, 9));
  const follower = after(message);
  message.fill(0);
  expect(follower.cancelKey()).toEqual({ processId: -7, secret: '\x09'.repeat(length) });
});

test.each([0, 3, 257])('a cancel key of %d bytes is nonsense', (length) => {
  const follower = after(backendKeyData(7, Buffer.alloc(length, 9)));
  expect(follower.isFollowing()).toBe(false);
  expect(follower.cancelKey()).toBeUndefined();
});

test.each([
  ['in_hot_standby', 'on', true],
  ['in_hot_standby', 'off', false],
  ['in_hot_standby', 'onward', false],
  ['in_hot_standby', '', false],
  ['in_hot_standby_too', 'on', undefined],
  ['in_hot', 'on', undefined],
  ['server_version', '18.4', undefined],
  ['', '', undefined],
])('ParameterStatus %s = %s: in hot standby %s', (name, value, expected) => {
  expect(after(parameterStatus(name, value)).isInHotStandby()).toBe(expected);
});

test.each([
  ['the NUL of its name', 'in_hot_standby', '\0on\0', undefined],
  ['the NUL of its value', 'in_hot_standby\0on', '\0', false],
])('what comes behind a ParameterStatus without %s is no part of it', (_, body, behind, expected) => {
  const bytes = Buffer.concat([aMessage('S', Buffer.from(body)), Buffer.from(behind)]);
  expect(after(bytes).isInHotStandby()).toBe(expected);
});

test('of a session that may move, a ParameterStatus without its value is nonsense', () => {
  const memory = new SessionMemory();
  memory.begins(new Map());
  const follower = new BackendFollower(new UnansweredMessages(), memory);
  follower.walk(Buffer.concat([parameterStatus('TimeZone', 'UTC'), COMMAND_COMPLETE]));
  expect([follower.isFollowing(), [...memory.told()]]).toEqual([true, [['TimeZone', 'UTC']]]);
  follower.walk(aMessage('S', Buffer.from('TimeZone\0')));
  expect([follower.isFollowing(), [...memory.told()]]).toEqual([false, [['TimeZone', 'UTC']]]);
});

test('of a session that may move, a parameter that is too long to be kept is passed over', () => {
  const follower = new BackendFollower(new UnansweredMessages(), new SessionMemory());
  follower.walk(parameterStatus('search_path', 'a'.repeat(1_000_000)));
  expect([follower.isFollowing(), follower.isAtBoundary()]).toEqual([true, true]);
});

test('a promoted standby reports this to a lasting session', () => {
  expect(
    after(parameterStatus('in_hot_standby', 'on'), parameterStatus('in_hot_standby', 'off')).isInHotStandby(),
  ).toBe(false);
});

const SHUTDOWN = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection'];

test.each([
  ['a shutdown', SHUTDOWN, '57P01'],
  ['a translated severity', ['SSCHWERWIEGEND', 'VFATAL', 'C57P03', 'M…'], '57P03'],
  ['a server before 9.6', ['SFATAL', 'C53300', 'Mtoo many clients'], '53300'],
  ['a panic', ['SPANIC', 'VPANIC', 'CXX000', 'M'], 'XX000'],
  ['a long text behind', [...SHUTDOWN.slice(0, 3), `M${'x'.repeat(100_000)}`], '57P01'],
  ['no SQLSTATE', ['SFATAL', 'VFATAL', 'M'], 'XX000'],
  ['text that is no SQLSTATE', ['SFATAL', 'VFATAL', 'C57p0', 'M'], 'XX000'],
  ['a mere error', ['SERROR', 'VERROR', 'C57P01', 'M'], undefined],
  ['a text that speaks of it', ['SERROR', 'VERROR', 'C42601', 'MVFATAL C57P01'], undefined],
  ['no field at all', [], undefined],
])('fatal: %s', (_, fields, expected) => {
  expect(after(errorOf(fields)).fatal()).toBe(expected);
});

test('a fatal error counts only if it is complete and the last message', () => {
  const message = errorOf(SHUTDOWN);
  expect(after(message.subarray(0, -1)).fatal()).toBeUndefined();
  expect(after(message, DATA_ROW.subarray(0, 1)).fatal()).toBeUndefined();
  expect(after(message, DATA_ROW).fatal()).toBeUndefined();
  expect(after(message, errorOf(['SERROR', 'C42601', 'M'])).fatal()).toBeUndefined();
  expect(after(errorOf(SHUTDOWN, 'N')).fatal()).toBeUndefined();
  expect(after(DATA_ROW, message).fatal()).toBe('57P01');
});

test.each('12ACDEGHIKNRSTVWZcdnstv3'.split(''))('type %s of PostgreSQL 18 is known', (type) => {
  const shortest: Readonly<Record<string, number>> = { K: 8, R: 4, S: 2, Z: 1, E: 1, G: 3, H: 3, W: 3, C: 1, v: 8 };
  const body = Buffer.alloc(shortest[type] ?? 0);
  if (type === 'Z') body.write('I');
  expect(after(aMessage(type, body)).isFollowing()).toBe(true);
});

test.each([
  ['a CommandComplete of a megabyte', aMessage('C', Buffer.alloc(1e6))],
  ['a row beyond what PostgreSQL can hold', Buffer.concat([Buffer.from('D'), aNumber(0x4000_0003)])],
  ['a message of clients only', aMessage('Q', Buffer.from('select 1\0'))],
  ['TLS', Buffer.from([0x16, 3, 3, 0, 2, 2, 80])],
  ['the one-byte answer to an SSLRequest', Buffer.from('NR\0\0\0\x08')],
])('nonsense: %s', (_, bytes) => {
  expect(after(AUTHENTICATION_OK, bytes).isFollowing()).toBe(false);
});

test('a row as long as PostgreSQL can hold is followed', () => {
  const follower = after(Buffer.concat([Buffer.from('D'), aNumber(0x4000_0002)]));
  expect(follower.isFollowing()).toBe(true);
  expect(follower.isAtBoundary()).toBe(false);
});

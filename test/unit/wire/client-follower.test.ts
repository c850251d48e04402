import { expect, test } from 'vitest';
import { ClientFollower } from '../../../src/wire/client-follower.ts';
import {
  aMessage,
  aNumber,
  BIND,
  COPY_DATA,
  COPY_DONE,
  COPY_FAIL,
  EXECUTE,
  FLUSH,
  PARSE,
  QUERY,
  SYNC,
  TERMINATE,
} from '../../support/sockets/messages.ts';

/** The state after the answer to the startup. */
function after(...messages: readonly Uint8Array[]): ClientFollower {
  const follower = new ClientFollower();
  follower.answered(1);
  follower.follow(Buffer.concat(messages), false);
  return follower;
}

test('the startup itself awaits its ReadyForQuery', () => {
  const follower = new ClientFollower();
  expect(follower.awaited()).toBe(1);
  follower.follow(aMessage('p', Buffer.from('secret\0')), false);
  expect(follower.awaited()).toBe(1);
  follower.answered(1);
  expect(follower.awaited()).toBe(0);
});

test.each([
  ['Query', [QUERY], 1],
  ['FunctionCall', [aMessage('F', Buffer.alloc(10))], 1],
  ['Sync', [SYNC], 1],
  ['three Syncs', [SYNC, SYNC, SYNC], 3],
  ['extended protocol', [PARSE, BIND, EXECUTE, SYNC], 1],
  ['a Flush', [FLUSH], 0],
  ['what belongs to a COPY', [COPY_DATA, COPY_DONE, COPY_FAIL], 0],
  ['Terminate', [TERMINATE], 0],
])('%s: the number of awaited ReadyForQuery', (_, messages, expected) => {
  expect(after(...messages).awaited()).toBe(expected);
});

test.each([
  ['Parse', [PARSE], true],
  ['Bind', [BIND], true],
  ['Describe', [aMessage('D', Buffer.from('S\0'))], true],
  ['Execute', [EXECUTE], true],
  ['Close', [aMessage('C', Buffer.from('S\0'))], true],
  ['a Flush does not end it', [PARSE, FLUSH], true],
  ['a Sync does', [PARSE, SYNC], false],
  ['a Query does', [PARSE, QUERY], false],
  ['a Flush alone', [FLUSH], false],
  ['after a Sync', [SYNC, EXECUTE], true],
])('unsynced: %s', (_, messages, expected) => {
  expect(after(...messages).isUnsynced()).toBe(expected);
});

test('the header of a Query is enough to await its answer', () => {
  expect(after(QUERY.subarray(0, 4)).awaited()).toBe(0);
  expect(after(QUERY.subarray(0, 5)).awaited()).toBe(1);
});

test('surplus answers do not answer later requests', () => {
  const follower = after();
  follower.answered(3);
  follower.follow(QUERY, false);
  expect(follower.awaited()).toBe(1);
});

test('Terminate is recognised', () => {
  expect(after().isTerminating()).toBe(false);
  expect(after(TERMINATE).isTerminating()).toBe(true);
});

test.each([
  ['a type of the backend', aMessage('Z', Buffer.from('I'))],
  ['TLS', Buffer.from([0x16, 3, 1, 0, 5])],
  ['a startup packet', Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])],
  ['a Sync with a payload', aMessage('S', Buffer.from('x'))],
  ['a Describe beyond 10 000 bytes', Buffer.concat([Buffer.from('D'), aNumber(10_001)])],
  ['a token beyond 65 535 bytes', Buffer.concat([Buffer.from('p'), aNumber(65_536)])],
  ['a Query beyond PQ_LARGE_MESSAGE_LIMIT', Buffer.concat([Buffer.from('Q'), aNumber(0x3fff_ffff)])],
])('nonsense: %s', (_, bytes) => {
  expect(after(bytes).isFollowing()).toBe(false);
});

test.each('BCDEFHPQSXcdfp'.split(''))('type %s of PostgreSQL 18 is known', (type) => {
  expect(after(aMessage(type)).isFollowing()).toBe(true);
});

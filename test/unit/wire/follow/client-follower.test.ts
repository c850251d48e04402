import { expect, test } from 'vitest';
import { ClientFollower } from '../../../../src/wire/follow/client-follower.ts';
import { UnansweredMessages } from '../../../../src/wire/follow/unanswered.ts';
import { aMessage, aNumber, QUERY, SYNC, TERMINATE } from '../../../support/sockets/messages.ts';

function after(...messages: readonly Uint8Array[]): ClientFollower {
  const follower = new ClientFollower(new UnansweredMessages());
  follower.walk(Buffer.concat(messages));
  return follower;
}

test('Terminate is recognised', () => {
  expect(after().isTerminating()).toBe(false);
  expect(after(QUERY, SYNC).isTerminating()).toBe(false);
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

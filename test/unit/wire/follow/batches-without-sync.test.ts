// Messages of the extended protocol that wait for the client's Sync: whether another Sync may come before it.
import { expect, test } from 'vitest';
import { ERROR, READY, aStarted, play } from '../../../support/sockets/dialogues.ts';
import {
  aMessage,
  BIND,
  COMMAND_COMPLETE,
  COPY_DATA,
  COPY_DONE,
  COPY_IN_RESPONSE,
  EXECUTE,
  FLUSH,
  PARSE,
  QUERY,
  readyForQuery,
  SYNC,
} from '../../../support/sockets/messages.ts';

const CLOSE = aMessage('C', Buffer.from('Sone\0'));
const DESCRIBE = aMessage('D', Buffer.from('Sone\0'));

test('a client that has only prepared waits without a Sync: it is idle, and another Sync ends the batch', () => {
  const follower = aStarted();
  play(follower, [
    ['C', [PARSE, DESCRIBE], 'busy'],
    ['C', [FLUSH], 'busy'],
    ['B', [aMessage('1')], 'busy'],
    ['B', [aMessage('t', Buffer.alloc(2)), aMessage('n')], 'idle'],
    ['C', [CLOSE, PARSE.subarray(0, 4)], 'busy'],
    ['B', [aMessage('3')], 'busy'],
    ['C', [PARSE.subarray(4), FLUSH], 'busy'],
    ['B', [aMessage('1')], 'idle'],
  ]);
  expect(follower.endBatch()).toBe(true);
  expect(follower.endBatch()).toBe(false);
  play(follower, [
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [aMessage('1')], 'idle'],
  ]);
  expect(follower.endBatch()).toBe(true);
  // The client's own one has its answer all the same.
  play(follower, [
    ['C', [SYNC], 'busy'],
    ['B', [READY], 'idle'],
    ['C', [PARSE, BIND, EXECUTE, SYNC], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COMMAND_COMPLETE, READY], 'idle'],
  ]);
  expect(follower.endBatch()).toBe(false);
});

const ANSWERED_COPY = [COPY_IN_RESPONSE, COMMAND_COMPLETE];

test.each<[string, readonly Uint8Array[], readonly Uint8Array[]]>([
  ['a portal, which a Sync would end', [PARSE, BIND, FLUSH], [aMessage('1'), aMessage('2')]],
  ['a portal of before', [BIND, FLUSH, PARSE, FLUSH], [aMessage('2'), aMessage('1')]],
  ['a result', [PARSE, BIND, EXECUTE, FLUSH], [aMessage('1'), aMessage('2'), COMMAND_COMPLETE]],
  ['an error, behind which the server discards up to the Sync of the client', [PARSE, FLUSH], [ERROR]],
  ['an error amid the batch', [PARSE, PARSE, FLUSH], [aMessage('1'), ERROR]],
  [
    'a COPY that has taken the Sync',
    [BIND, EXECUTE, SYNC, COPY_DATA, COPY_DONE, FLUSH],
    [aMessage('2'), ...ANSWERED_COPY],
  ],
])('a batch without Sync that has %s', (_, sent, answers) => {
  const follower = aStarted();
  play(follower, [
    ['C', sent, 'busy'],
    ['B', answers, 'busy'],
  ]);
  expect(follower.endBatch()).toBe(false);
});

test('a batch that the server has ended by itself, as by a limit of time, leaves no portal to the next one', () => {
  play(aStarted(), [
    ['C', [BIND, FLUSH], 'busy'],
    ['B', [aMessage('2')], 'busy'],
    ['B', [ERROR, READY], 'idle'],
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [aMessage('1')], 'idle'],
  ]);
});

test('in a transaction a client that has only prepared waits as well', () => {
  play(aStarted(), [
    ['C', [QUERY], 'busy'],
    ['B', [COMMAND_COMPLETE, readyForQuery('T')], 'in_transaction'],
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [aMessage('1')], 'in_transaction'],
  ]);
});

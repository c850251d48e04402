// Messages of a COPY and messages that the server discards begin no transaction, and leave no batch.
import { expect, test } from 'vitest';
import { ERROR, READY, aStarted, play } from '../../../support/sockets/dialogues.ts';
import {
  aMessage,
  BIND,
  COMMAND_COMPLETE,
  COPY_DATA,
  COPY_DONE,
  COPY_FAIL,
  COPY_IN_RESPONSE,
  EXECUTE,
  FLUSH,
  PARSE,
  QUERY,
  SYNC,
} from '../../../support/sockets/messages.ts';

test('a COPY takes a Sync that comes amid its data', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, FLUSH], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE], 'busy'],
    ['C', [COPY_DATA, SYNC, COPY_DATA, COPY_DONE], 'busy'],
    ['B', [COMMAND_COMPLETE], 'busy'],
    ['C', [SYNC], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('the end of a COPY that has failed leaves no batch', () => {
  const follower = aStarted();
  play(follower, [['C', [COPY_DATA, COPY_DONE, COPY_FAIL], 'idle']]);
  expect([follower.hasBatch(), follower.endBatch()]).toEqual([false, false]);
});

test('what runs nothing begins no transaction', () => {
  const light = Buffer.concat([FLUSH, COPY_DATA, COPY_DONE, COPY_FAIL]);
  expect(aStarted().fromClientUntilTransaction(Buffer.concat([light, QUERY]))).toBe(light.length);
});

test('what the server discards begins no transaction, and what comes behind the Sync does', () => {
  const follower = aStarted();
  play(follower, [
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [ERROR], 'busy'],
  ]);
  const discarded = Buffer.concat([BIND, EXECUTE, SYNC]);
  expect(follower.fromClientUntilTransaction(Buffer.concat([discarded, QUERY]))).toBe(discarded.length);
});

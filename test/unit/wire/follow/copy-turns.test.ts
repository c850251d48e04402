// Messages of a COPY and messages that the server discards begin no transaction, and leave no batch.
import { describe, expect, test } from 'vitest';
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

test('a COPY takes every Sync amid its data, and none behind their end', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, EXECUTE, FLUSH], 'busy'],
    ['B', [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE], 'busy'],
    ['C', [COPY_DATA, SYNC, SYNC, COPY_DATA, COPY_DONE, SYNC], 'busy'],
    ['B', [COMMAND_COMPLETE], 'busy'],
    ['B', [READY], 'idle'],
    ['C', [QUERY], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('amid a COPY no message begins a transaction', () => {
  const follower = aStarted();
  play(follower, [
    ['C', [QUERY], 'busy'],
    ['B', [COPY_IN_RESPONSE], 'busy'],
  ]);
  expect(follower.fromClientUntilTransaction(QUERY)).toBe(QUERY.length);
});

/** The start of a COPY, its Sync, and its data, sent ahead; the COPY fails. */
const AHEAD = [PARSE, BIND, EXECUTE, SYNC, COPY_DATA, COPY_DONE];
const FAILED = [aMessage('1'), aMessage('2'), COPY_IN_RESPONSE, ERROR];

describe('a COPY that fails may have taken the Sync that was sent ahead, or not:', () => {
  test('while that is not known, what comes behind it may begin a transaction', () => {
    const follower = aStarted();
    play(follower, [
      ['C', AHEAD, 'busy'],
      ['B', FAILED, 'busy'],
    ]);
    expect(follower.fromClientUntilTransaction(PARSE)).toBe(0);
  });

  test.each<readonly [string, Buffer, Buffer]>([
    ['Parse', PARSE, aMessage('1')],
    ['Bind', BIND, aMessage('2')],
    ['Close', aMessage('C', Buffer.from('Sx\0')), aMessage('3')],
    ['Describe', aMessage('D', Buffer.from('Sx\0')), aMessage('n')],
  ])('the answer to a %s shows that it has not, and a Query behind that is still due', (_, request, answer) => {
    play(aStarted(), [
      ['C', [...AHEAD, request, SYNC, QUERY], 'busy'],
      ['B', FAILED, 'busy'],
      ['B', [READY, answer, READY], 'busy'],
      ['B', [COMMAND_COMPLETE, READY], 'idle'],
    ]);
  });

  test('requests that come when it is known are due as ever', () => {
    play(aStarted(), [
      ['C', [...AHEAD, PARSE, BIND, EXECUTE, SYNC], 'busy'],
      ['B', FAILED, 'busy'],
      ['B', [READY, aMessage('1')], 'busy'],
      ['B', [aMessage('2'), COMMAND_COMPLETE], 'busy'],
      ['C', [QUERY], 'busy'],
      ['B', [READY], 'busy'],
      ['B', [COMMAND_COMPLETE, READY], 'idle'],
    ]);
  });

  test('an error behind its end shows that it has not', () => {
    play(aStarted(), [
      ['C', [...AHEAD, PARSE, BIND, EXECUTE, SYNC], 'busy'],
      ['B', [...FAILED, READY], 'idle'],
      ['B', [ERROR], 'busy'],
      ['B', [READY], 'idle'],
    ]);
  });

  test('an error before the next end shows that as well', () => {
    play(aStarted(), [
      ['C', [...AHEAD, SYNC, SYNC], 'busy'],
      ['B', [...FAILED, READY], 'busy'],
      ['B', [ERROR, READY], 'busy'],
      ['B', [READY], 'idle'],
    ]);
  });

  test('a batch behind it is open, and another end of its data is none', () => {
    play(aStarted(), [
      ['C', [...AHEAD, PARSE, FLUSH], 'busy'],
      ['B', [...FAILED, READY, aMessage('1')], 'busy'],
      ['C', [SYNC], 'busy'],
      ['B', [READY], 'idle'],
    ]);
    play(aStarted(), [
      ['C', [...AHEAD, COPY_DONE], 'busy'],
      ['B', [...FAILED, READY], 'idle'],
    ]);
  });

  test('two ends show that it has taken none of two', () => {
    play(aStarted(), [
      ['C', [PARSE, BIND, EXECUTE, SYNC, SYNC, COPY_DATA, COPY_DONE, PARSE, BIND, EXECUTE, SYNC], 'busy'],
      ['B', [...FAILED, READY], 'idle'],
      ['B', [READY], 'busy'],
      ['B', [aMessage('1'), aMessage('2'), COMMAND_COMPLETE], 'busy'],
      ['B', [READY], 'idle'],
    ]);
  });

  test('when it has, no batch is left behind the end', () => {
    const follower = aStarted();
    play(follower, [
      ['C', [...AHEAD, SYNC, QUERY], 'busy'],
      ['B', [...FAILED, READY], 'busy'],
      ['B', [aMessage('T', Buffer.alloc(2)), COMMAND_COMPLETE, READY], 'idle'],
      ['C', [PARSE, FLUSH], 'busy'],
      ['B', [aMessage('1')], 'idle'],
    ]);
    expect(follower.hasBatch()).toBe(true);
  });
});

test('an error without a request, and a request that comes before the end of that', () => {
  play(aStarted(), [
    ['B', [ERROR], 'idle'],
    ['C', [QUERY], 'busy'],
    ['B', [READY], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'idle'],
  ]);
});

test('an error without a request, and a batch that begins before the end of that', () => {
  const follower = aStarted();
  play(follower, [
    ['B', [ERROR], 'idle'],
    ['C', [PARSE, FLUSH], 'busy'],
    ['B', [READY], 'busy'],
    ['B', [aMessage('1')], 'idle'],
  ]);
  expect(follower.endBatch()).toBe(true);
});

test('the end of a COPY that never began has no answer, and what comes behind it has', () => {
  play(aStarted(), [
    ['C', [QUERY, COPY_DONE, PARSE, FLUSH], 'busy'],
    ['B', [COMMAND_COMPLETE, READY], 'busy'],
    ['B', [aMessage('1')], 'idle'],
  ]);
});

test('the end of a batch is the end, whatever the server left out', () => {
  play(aStarted(), [
    ['C', [PARSE, BIND, SYNC], 'busy'],
    ['B', [READY], 'idle'],
  ]);
});

test('a portal of before that runs in a batch is one that a Sync may end', () => {
  const follower = aStarted();
  play(follower, [
    ['C', [EXECUTE, FLUSH], 'busy'],
    ['B', [COMMAND_COMPLETE], 'busy'],
  ]);
  expect(follower.endBatch()).toBe(false);
});

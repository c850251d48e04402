// How much of a client's bytes may go on while its session is to become idle: one request at a time, and none that may
// begin a transaction. Streams of any kind: test/property/wire.
import { describe, expect, test } from 'vitest';
import type { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { READY, aStarted } from '../../../support/sockets/dialogues.ts';
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
  TERMINATE,
} from '../../../support/sockets/messages.ts';

const NONSENSE = Buffer.from([0x16, 3, 1, 0, 5]);

/** A session in a transaction, or in one that has failed. */
function inTransaction(status: 'T' | 'E' = 'T'): SessionFollower {
  const follower = aStarted();
  follower.fromClient(QUERY);
  follower.fromBackend(Buffer.concat([COMMAND_COMPLETE, readyForQuery(status)]));
  return follower;
}

describe('one request at a time', () => {
  test('the next one waits for the answer', () => {
    const follower = aStarted();
    expect(follower.fromClientOneByOne(Buffer.concat([QUERY, QUERY]))).toBe(QUERY.length);
    expect([follower.activity(), follower.mayGoOn(), follower.isReplyDue()]).toEqual(['busy', false, true]);
    expect(follower.fromClientOneByOne(QUERY)).toBe(0);
    follower.fromBackend(Buffer.concat([COMMAND_COMPLETE, READY]));
    expect([follower.activity(), follower.mayGoOn(), follower.isReplyDue()]).toEqual(['idle', true, false]);
    expect(follower.fromClientOneByOne(QUERY)).toBe(QUERY.length);
  });

  test.each([2, 5, 7])('a request that has begun goes on, cut at %d', (at) => {
    const follower = aStarted();
    expect(follower.fromClientOneByOne(QUERY.subarray(0, at))).toBe(at);
    expect(follower.fromClientOneByOne(Buffer.concat([QUERY.subarray(at), SYNC]))).toBe(QUERY.length - at);
  });

  test('a batch up to its Sync is one request, and data of a COPY are none', () => {
    const follower = aStarted();
    const batch = Buffer.concat([PARSE, BIND, EXECUTE, SYNC]);
    expect(follower.fromClientOneByOne(Buffer.concat([batch, PARSE]))).toBe(batch.length);
    follower.fromBackend(Buffer.concat([aMessage('1'), aMessage('2'), COPY_IN_RESPONSE]));
    const data = Buffer.concat([COPY_DATA, COPY_DONE, FLUSH]);
    expect(follower.fromClientOneByOne(data)).toBe(data.length);
  });

  test('bytes that are no messages are the business of the server', () => {
    const follower = aStarted();
    expect(follower.fromClientOneByOne(Buffer.concat([NONSENSE, QUERY]))).toBe(NONSENSE.length + QUERY.length);
    expect(follower.fromClientOneByOne(QUERY)).toBe(QUERY.length);
    const deaf = aStarted();
    deaf.fromBackend(NONSENSE);
    const two = Buffer.concat([QUERY, QUERY]);
    expect([deaf.fromClientOneByOne(two), deaf.fromClientUntilTransaction(two)]).toEqual([two.length, two.length]);
  });

  test.each(['fromClientOneByOne', 'fromClientUntilTransaction'] as const)(
    'a goodbye is read all the same: %s',
    (way) => {
      const deaf = aStarted();
      deaf.fromBackend(NONSENSE);
      expect(deaf[way](TERMINATE)).toBe(TERMINATE.length);
      expect(deaf.isTerminating()).toBe(true);
    },
  );
});

describe('up to the next transaction', () => {
  test.each([
    ['Query', QUERY],
    ['Parse', PARSE],
    ['Bind', BIND],
    ['FunctionCall', aMessage('F', Buffer.alloc(10))],
  ])('between two of them %s may begin one', (_, message) => {
    expect(aStarted().fromClientUntilTransaction(message)).toBe(0);
    expect(inTransaction('T').fromClientUntilTransaction(message)).toBe(message.length);
    expect(inTransaction('E').fromClientUntilTransaction(message)).toBe(message.length);
  });

  test.each([
    ['Sync', SYNC],
    ['Flush', FLUSH],
    ['data of a COPY that is over', Buffer.concat([COPY_DATA, COPY_DONE])],
  ])('%s begins none', (_, message) => {
    expect(aStarted().fromClientUntilTransaction(Buffer.concat([message, QUERY]))).toBe(message.length);
  });

  test('the rest of a batch belongs to its transaction', () => {
    const follower = aStarted();
    follower.fromClient(Buffer.concat([BIND]));
    const rest = Buffer.concat([EXECUTE, SYNC]);
    expect(follower.fromClientUntilTransaction(Buffer.concat([rest, QUERY]))).toBe(rest.length);
  });

  test('behind an answer that is due it is not known whether a transaction is open', () => {
    const follower = inTransaction();
    expect(follower.fromClientUntilTransaction(Buffer.concat([QUERY, QUERY]))).toBe(QUERY.length);
    follower.fromBackend(Buffer.concat([COMMAND_COMPLETE, readyForQuery('T')]));
    expect(follower.fromClientUntilTransaction(QUERY)).toBe(QUERY.length);
  });

  test('statements that were only prepared in a transaction leave it known', () => {
    const follower = inTransaction();
    follower.fromClient(Buffer.concat([PARSE, FLUSH]));
    follower.fromBackend(aMessage('1'));
    expect(follower.fromClientUntilTransaction(QUERY)).toBe(QUERY.length);
    const idle = aStarted();
    idle.fromClient(Buffer.concat([PARSE, FLUSH]));
    idle.fromBackend(aMessage('1'));
    expect(idle.fromClientUntilTransaction(QUERY)).toBe(0);
  });

  test('one request at a time as well: a Sync waits for the answer before it', () => {
    const [all, one] = [inTransaction(), inTransaction()];
    for (const follower of [all, one]) follower.fromClient(QUERY);
    expect(all.fromClientUntilTransaction(SYNC)).toBe(SYNC.length);
    expect(one.fromClientUntilTransaction(SYNC, true)).toBe(0);
    one.fromBackend(Buffer.concat([COMMAND_COMPLETE, readyForQuery('T')]));
    expect(one.fromClientUntilTransaction(SYNC, true)).toBe(SYNC.length);
  });
});

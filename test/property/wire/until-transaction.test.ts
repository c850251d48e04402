// A causal read is held back before its first byte: the stream is cut where a transaction may begin, wherever the
// network cuts it.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import {
  AUTHENTICATION_OK,
  BIND,
  COMMAND_COMPLETE,
  COPY_DATA,
  COPY_DONE,
  COPY_IN_RESPONSE,
  EXECUTE,
  FLUSH,
  PARSE,
  QUERY,
  SYNC,
  aMessage,
  errorOf,
  readyForQuery,
} from '../../support/sockets/messages.ts';

const READY = readyForQuery('I');
const LONG_QUERY = aMessage('Q', Buffer.alloc(300, 'x'));
const CALL = aMessage('F', Buffer.alloc(12));
const CLOSE = aMessage('C', Buffer.from('Sone\0'));
const DESCRIBE = aMessage('D', Buffer.from('Sone\0'));
const TERMINATE = aMessage('X');
const PARSED = aMessage('1');
const BOUND = aMessage('2');

function started(): SessionFollower {
  const follower = new SessionFollower();
  follower.fromBackend(Buffer.concat([AUTHENTICATION_OK, READY]));
  return follower;
}

/** Each message, and whether a transaction begins with it where the session is in none and waits for no answer. */
function beginningsOf(parts: readonly Buffer[]): readonly number[] {
  const beginnings: number[] = [];
  let at = 0;
  let isInBatch = false;
  for (const part of parts) {
    const type = String.fromCharCode(part[0] ?? 0);
    if ('QFPBDEC'.includes(type) && !isInBatch) beginnings.push(at);
    if ('PBDEC'.includes(type)) isInBatch = true;
    if ('QFS'.includes(type)) isInBatch = false;
    at += part.length;
  }
  return beginnings;
}

const messages = fc.array(
  fc.constantFrom(QUERY, LONG_QUERY, CALL, PARSE, BIND, DESCRIBE, EXECUTE, CLOSE, FLUSH, SYNC),
  {
    maxLength: 15,
  },
);

test('the stream stops before each transaction, however it is cut, and the follower sees what it always sees', () => {
  fc.assert(
    fc.property(messages, fc.array(fc.nat(), { maxLength: 8 }), (parts, cuts) => {
      const stream = Buffer.concat(parts);
      const ends = [...cuts.map((cut) => cut % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
      const follower = started();
      const stops: number[] = [];
      let at = 0;
      for (const end of ends) {
        while (at < end) {
          at += follower.fromClientUntilTransaction(new Uint8Array(stream.subarray(at, end)));
          if (at === end) break;
          stops.push(at);
          // The transaction may begin: its message passes, and others that come with it.
          const message = 1 + stream.readUInt32BE(at + 1);
          const size = Math.min(message, end - at);
          follower.fromClient(new Uint8Array(stream.subarray(at, at + size)));
          at += size;
        }
      }
      // Where a chunk ends at a beginning, the next one stops there.
      expect(stops).toEqual(beginningsOf(parts));
      const plain = started();
      plain.fromClient(stream);
      expect(follower.activity()).toBe(plain.activity());
    }),
  );
});

/** How many of the messages pass. */
function passing(follower: SessionFollower, parts: readonly Buffer[]): number {
  const size = follower.fromClientUntilTransaction(Buffer.concat(parts));
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (at === size) return index;
    at += part.length;
  }
  return parts.length;
}

test('within a transaction nothing is held back, until answers are due that may end it', () => {
  const follower = started();
  follower.fromClient(QUERY);
  follower.fromBackend(readyForQuery('T'));
  expect(passing(follower, [SYNC, PARSE])).toBe(1);
  follower.fromBackend(readyForQuery('T'));
  expect(passing(follower, [PARSE, BIND, EXECUTE, SYNC, QUERY])).toBe(4);
  follower.fromBackend(Buffer.concat([PARSED, BOUND, COMMAND_COMPLETE, readyForQuery('T')]));
  expect(passing(follower, [QUERY, QUERY])).toBe(1);
  follower.fromBackend(readyForQuery('E'));
  expect(passing(follower, [QUERY])).toBe(1);
  follower.fromBackend(READY);
  expect(passing(follower, [QUERY])).toBe(0);
});

test('a client that has only prepared begins a transaction with its next message', () => {
  const follower = started();
  follower.fromClient(Buffer.concat([PARSE, FLUSH]));
  expect(passing(follower, [BIND, EXECUTE, SYNC])).toBe(3);
  const prepared = started();
  prepared.fromClient(Buffer.concat([PARSE, FLUSH]));
  prepared.fromBackend(PARSED);
  expect(passing(prepared, [FLUSH, BIND, EXECUTE, SYNC])).toBe(1);
});

test('what a server discards, what a COPY takes, and the goodbye are no transactions', () => {
  const failed = started();
  failed.fromClient(Buffer.concat([PARSE, BIND, EXECUTE, FLUSH]));
  failed.fromBackend(errorOf(['SERROR', 'C22012', 'M']));
  expect(passing(failed, [QUERY, EXECUTE, SYNC, QUERY])).toBe(3);
  const copying = started();
  copying.fromClient(QUERY);
  copying.fromBackend(COPY_IN_RESPONSE);
  expect(passing(copying, [COPY_DATA, SYNC, COPY_DONE, QUERY])).toBe(3);
  expect(passing(started(), [TERMINATE])).toBe(1);
});

test('with one request at a time, what passes is the less of both', () => {
  const follower = started();
  follower.fromClient(QUERY);
  expect(follower.fromClientUntilTransaction(SYNC, true)).toBe(0);
  expect(follower.fromClientUntilTransaction(SYNC)).toBe(SYNC.length);
});

test('after bytes that are no messages all bytes pass', () => {
  const follower = started();
  follower.fromBackend(Buffer.from('!!!!!!!!'));
  expect(follower.fromClientUntilTransaction(QUERY)).toBe(QUERY.length);
  expect(follower.activity()).toBe('unknown');
});

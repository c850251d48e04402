// A client that sends requests in advance comes between two transactions: its stream is cut where a request would begin
// while a ReadyForQuery is due, and nowhere else.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import {
  AUTHENTICATION_OK,
  BIND,
  COPY_DATA,
  COPY_IN_RESPONSE,
  EXECUTE,
  PARSE,
  QUERY,
  SYNC,
  aMessage,
  errorOf,
  readyForQuery,
} from '../../support/sockets/messages.ts';

const READY = readyForQuery('I');
const LONG_QUERY = aMessage('Q', Buffer.alloc(300, 'x'));
const messages = fc.array(fc.constantFrom(QUERY, LONG_QUERY, PARSE, BIND, EXECUTE, SYNC), {
  maxLength: 15,
});

/** Requests that get a ReadyForQuery, one after the other. */
function requestsOf(parts: readonly Buffer[]): readonly Buffer[] {
  const requests: Buffer[] = [];
  let current: Buffer[] = [];
  for (const part of parts) {
    current.push(part);
    const [type] = part;
    if (type !== QUERY[0] && type !== SYNC[0]) continue;
    requests.push(Buffer.concat(current));
    current = [];
  }
  return [...requests, Buffer.concat(current)];
}

function started(): SessionFollower {
  const follower = new SessionFollower();
  follower.fromBackend(Buffer.concat([AUTHENTICATION_OK, READY]));
  return follower;
}

test('one request passes at a time, whole, and the follower sees what it always sees', () => {
  fc.assert(
    fc.property(messages, fc.array(fc.nat(), { maxLength: 8 }), (parts, cuts) => {
      const stream = Buffer.concat(parts);
      const ends = [...cuts.map((cut) => cut % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
      const follower = started();
      const passed: Buffer[] = [];
      let current: Buffer[] = [];
      let at = 0;
      for (const end of ends) {
        while (at < end) {
          const size = follower.fromClientOneByOne(new Uint8Array(stream.subarray(at, end)));
          current.push(stream.subarray(at, at + size));
          at += size;
          if (at === end) break;
          // The rest waits for one answer, and a whole request has passed.
          expect(follower.mayGoOn()).toBe(false);
          follower.fromBackend(READY);
          expect([follower.mayGoOn(), follower.activity()]).toEqual([true, 'idle']);
          passed.push(Buffer.concat(current));
          current = [];
        }
      }
      passed.push(Buffer.concat(current));
      const expected = requestsOf(parts).filter(({ length }) => length > 0);
      // A last request whose answer is still due ends the stream.
      expect(passed.filter(({ length }) => length > 0)).toEqual(expected);
      const plain = started();
      plain.fromClient(stream);
      expect(follower.activity()).toBe(plain.activity());
    }),
  );
});

test('the data of a COPY goes on while its answer is due, and so does what the COPY ignores', () => {
  const follower = started();
  const ahead = Buffer.concat([QUERY, COPY_DATA, SYNC]);
  expect(follower.fromClientOneByOne(ahead)).toBe(ahead.length - SYNC.length);
  follower.fromBackend(COPY_IN_RESPONSE);
  expect(follower.mayGoOn()).toBe(true);
  const stream = Buffer.concat([SYNC, COPY_DATA, aMessage('c'), QUERY]);
  expect(follower.fromClientOneByOne(stream)).toBe(stream.length - QUERY.length);
});

test('what a server discards waits for no answer', () => {
  const follower = started();
  const stream = Buffer.concat([PARSE, BIND, EXECUTE, QUERY, SYNC]);
  expect(follower.fromClientOneByOne(stream)).toBe(stream.length - SYNC.length);
  follower.fromBackend(errorOf(['SERROR', 'C22012', 'M']));
  expect(follower.mayGoOn()).toBe(true);
  expect(follower.fromClientOneByOne(SYNC)).toBe(SYNC.length);
});

test.each([
  ['the client', (follower: SessionFollower) => follower.fromClient(Buffer.from('!!!!!!!!'))],
  ['the server', (follower: SessionFollower) => follower.fromBackend(Buffer.from('!!!!!!!!'))],
])('after bytes of %s that are no messages all bytes pass', (_, spoil) => {
  const follower = started();
  expect(follower.fromClientOneByOne(Buffer.concat([QUERY, QUERY]))).toBe(QUERY.length);
  spoil(follower);
  expect(follower.mayGoOn()).toBe(true);
  expect(follower.fromClientOneByOne(Buffer.concat([QUERY, QUERY]))).toBe(2 * QUERY.length);
  expect(follower.activity()).toBe('unknown');
});

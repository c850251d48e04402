// A client that sends requests in advance comes between two transactions: its stream is cut where a request would begin
// while a ReadyForQuery is due, and nowhere else.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClientFollower } from '../../../src/wire/client-follower.ts';
import { BIND, COPY_DATA, EXECUTE, PARSE, QUERY, SYNC, aMessage } from '../../support/sockets/messages.ts';

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

function started(): ClientFollower {
  const follower = new ClientFollower();
  follower.answered(1);
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
          const size = follower.followOneByOne(new Uint8Array(stream.subarray(at, end)), false);
          current.push(stream.subarray(at, at + size));
          at += size;
          expect(follower.awaited()).toBeLessThanOrEqual(1);
          if (at === end) break;
          // The rest waits for an answer, and a whole request has passed.
          expect([follower.awaited(), follower.isUnsynced(), follower.isAtBoundary()]).toEqual([1, false, true]);
          follower.answered(1);
          passed.push(Buffer.concat(current));
          current = [];
        }
      }
      passed.push(Buffer.concat(current));
      const expected = requestsOf(parts).filter(({ length }) => length > 0);
      // A last request whose answer is still due ends the stream.
      expect(passed.filter(({ length }) => length > 0)).toEqual(expected);
      const plain = started();
      plain.follow(stream, false);
      expect([follower.isUnsynced(), follower.isAtBoundary()]).toEqual([plain.isUnsynced(), plain.isAtBoundary()]);
    }),
  );
});

test('the data of a COPY goes on while its answer is due', () => {
  const follower = started();
  const stream = Buffer.concat([QUERY, COPY_DATA, COPY_DATA, aMessage('c'), QUERY]);
  expect(follower.followOneByOne(stream, true)).toBe(stream.length - QUERY.length);
});

test('bytes that are no messages pass, as always', () => {
  const follower = started();
  expect(follower.followOneByOne(Buffer.from('!!!!!!!!'), false)).toBe(8);
  expect(follower.isFollowing()).toBe(false);
});

// The time of a request: from its bytes to the first byte of the reply. A login, and what is sent ahead, is no request.
import { beforeEach, expect, test } from 'vitest';
import type { Taps } from '../../../../src/proxy/relay/directions.ts';
import { ReplyTimer } from '../../../../src/proxy/relay/reply-timer.ts';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { aMessage } from '../../../support/sockets/messages.ts';

const message = (type: string, text: string): Buffer => aMessage(type, Buffer.from(text, 'latin1'));
const QUERY = message('Q', 'select 1\0');
const READY = message('Z', 'I');
const ROW = message('D', '\0\0');
const DONE = message('C', 'SELECT 1\0');

let now: number;
let reads: number;
let durations: number[];
let passed: number;
let timer: ReplyTimer;

beforeEach(() => {
  [now, reads, durations, passed] = [0, 0, [], 0];
  const follower = new SessionFollower();
  const inner: Taps = {
    fromClient: (chunk) => {
      follower.fromClient(chunk);
      return undefined;
    },
    fromBackend: (chunk) => {
      follower.fromBackend(chunk);
      return true;
    },
    passedToClient: () => (passed += 1),
  };
  const clock = {
    now: () => {
      reads += 1;
      return now;
    },
  };
  timer = new ReplyTimer(inner, { follower, clock, onReply: (durationMs) => durations.push(durationMs) });
});

function logIn(): void {
  timer.fromBackend(message('R', '\0\0\0\u0003'));
  timer.fromClient(message('p', 'secret\0'));
  now += 5;
  timer.fromBackend(message('R', '\0\0\0\0'));
  timer.fromBackend(READY);
}

test('a login is no request', () => {
  logIn();
  expect([durations, reads]).toEqual([[], 0]);
});

test('the first byte counts, whatever follows; the clock is read twice for a request', () => {
  logIn();
  for (const durationMs of [3, 7]) {
    timer.fromClient(QUERY);
    now += durationMs;
    timer.fromBackend(ROW.subarray(0, 1));
    now += 100;
    timer.fromBackend(ROW.subarray(1));
    timer.fromBackend(DONE);
    timer.fromBackend(READY);
  }
  expect([durations, reads]).toEqual([[3, 7], 4]);
});

test('requests that are sent ahead belong to the first one', () => {
  logIn();
  timer.fromClient(QUERY);
  timer.fromClient(QUERY);
  now += 2;
  timer.fromBackend(DONE);
  now += 50;
  timer.fromBackend(READY);
  timer.fromBackend(DONE);
  timer.fromBackend(READY);
  timer.fromClient(QUERY);
  now += 4;
  timer.fromBackend(DONE);
  expect(durations).toEqual([2, 4]);
});

test('the extended protocol counts from its Sync, and data of a COPY are no requests', () => {
  logIn();
  timer.fromClient(message('P', '\0select 1\0\0\0'));
  now += 10;
  timer.fromClient(message('S', ''));
  now += 1;
  timer.fromBackend(message('1', ''));
  timer.fromBackend(READY);
  timer.fromClient(QUERY);
  now += 2;
  timer.fromBackend(message('G', '\0\0\0'));
  timer.fromClient(message('d', 'row'));
  now += 30;
  timer.fromClient(message('c', ''));
  now += 4;
  timer.fromBackend(DONE);
  timer.fromBackend(READY);
  expect(durations).toEqual([1, 2, 4]);
});

test('a notice of its own, without a request, is no reply', () => {
  logIn();
  now += 9;
  timer.fromBackend(message('N', '\0'));
  expect(durations).toEqual([]);
});

test('the readers behind it hear that bytes were passed on', () => {
  timer.passedToClient();
  expect(passed).toBe(1);
});

// The readers of a session, in one order for both directions, and the client that is held back for a pause.
import type { Socket } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import type { Cancels } from '../../../../src/proxy/cancel/cancel.ts';
import { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import type { Tap } from '../../../../src/proxy/relay/conversation.ts';
import type { Relay } from '../../../../src/proxy/relay/relay.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../../../support/sockets/messages.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);

let idleListeners: Set<() => void>;
let conversation: Conversation;
let order: string[];

beforeEach(() => {
  idleListeners = new Set();
  order = [];
  conversation = new Conversation({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a client that can be told
    client: { writable: true } as Socket,
    clock: new ManualClock(),
    isReadable: true,
    traffic: { toBackendBytes: 0, toClientBytes: 0 },
    idleListeners,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no key is told
    cancels: {} as Cancels,
  });
});

function logIn(...taps: readonly Tap[]): void {
  conversation.readAlong(new SessionMemory(), taps);
  conversation.fromBackend(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  order.splice(0);
}

function aTap(name: string, read: (chunk: Uint8Array) => Uint8Array | undefined = (chunk) => chunk): Tap {
  return {
    fromClient: (bytes) => void order.push(`${name} < ${bytes.length}`),
    fromServer(chunk) {
      order.push(`${name} > ${chunk.length}`);
      return read(chunk);
    },
  };
}

test('both directions have one order, and a tap that is removed reads no more', () => {
  const first = aTap('first');
  const second = aTap('second');
  logIn(first, second);
  conversation.fromClient(QUERY);
  expect(conversation.fromBackend(ANSWER)).toBe(true);
  conversation.tappedBy([second]);
  conversation.fromClient(QUERY);
  const [query, answer] = [QUERY.length, ANSWER.length];
  const both = [`first < ${query}`, `second < ${query}`, `first > ${answer}`, `second > ${answer}`];
  expect(order).toEqual([...both, `second < ${query}`]);
});

test('bytes that a tap keeps reach neither the taps behind it nor the client, until they pass', () => {
  let kept: Uint8Array | undefined;
  const keeper = aTap('keeper', (chunk) => {
    const passing = kept && Buffer.concat([kept, chunk]);
    kept = chunk;
    return passing;
  });
  logIn(keeper, aTap('behind'));
  const told: number[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the client is told
  conversation.relaysBy({ tellClient: (bytes: Uint8Array) => void told.push(bytes.length) } as Relay);
  kept = undefined;
  expect([conversation.fromBackend(COMMAND_COMPLETE), told]).toEqual([false, []]);
  expect([conversation.fromBackend(readyForQuery('I')), told]).toEqual([false, [ANSWER.length]]);
  expect(order.at(-1)).toBe(`behind > ${ANSWER.length}`);
});

test('a client is held back only where somebody waits for a pause, and goes on behind the answer', async () => {
  logIn(aTap('tap'));
  const gate = conversation.gate(() => undefined, { member: 'pg-1', address: { host: '127.0.0.1', port: 1 } });
  const two = Buffer.concat([QUERY, QUERY]);
  expect([conversation.fromClient(two), gate()]).toEqual([undefined, undefined]);
  for (const bytes of [ANSWER, ANSWER]) conversation.fromBackend(bytes);
  idleListeners.add(() => order.push('idle'));
  expect(conversation.fromClient(two)).toBe(QUERY.length);
  const wait = gate();
  conversation.fromBackend(ANSWER);
  conversation.passedToClient();
  await wait;
  expect([order.at(-1), gate()]).toEqual(['idle', undefined]);
});

test('G9: a client whose login is under way is told why its session ends, between two messages', () => {
  const told = () => conversation.farewell('evicted_demoted', 'pg-1 is a replica', { pool: 'write' })?.message;
  expect(told()).toBeDefined();
  conversation.fromBackend(AUTHENTICATION_OK);
  expect([conversation.activity(), told()]).toEqual(['starting', expect.anything()]);
  conversation.fromBackend(readyForQuery('I').subarray(0, 3));
  expect(told()).toBeUndefined();
  conversation.fromBackend(readyForQuery('I').subarray(3));
  conversation.fromClient(QUERY);
  expect([conversation.activity(), told()]).toEqual(['busy', undefined]);
});

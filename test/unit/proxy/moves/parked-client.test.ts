// A parked client is read ahead, up to a limit: so it is known which clients wait, and which have left.
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ParkedClient } from '../../../../src/proxy/moves/parked-client.ts';
import { QUERY } from '../../../support/sockets/messages.ts';

const MOST_AHEAD = 64 * 1024;

let client: Socket;
let left: string[];
/** How often it was told that the client waits. */
let waits: number;

beforeEach(() => {
  client = new Socket();
  [left, waits] = [[], 0];
});

afterEach(() => client.destroy());

function park(...waiting: readonly Uint8Array[]): ParkedClient {
  return new ParkedClient({
    client,
    waiting,
    onLeft: (reason) => left.push(reason),
    onWaiting: () => (waits += 1),
  });
}

test('what the client has sent already and what it sends now is kept, in order', () => {
  const parked = park(QUERY.subarray(0, 3));
  expect([parked.isWaiting(), client.isPaused()]).toEqual([true, false]);
  client.emit('data', QUERY.subarray(3));
  expect(parked.release()).toEqual({ bytes: Uint8Array.from(QUERY), hasEnded: false });
  expect([waits, client.isPaused()]).toEqual([0, true]);
});

test('its first bytes are told, and the later ones not', () => {
  const parked = park();
  expect(parked.isWaiting()).toBe(false);
  client.emit('data', QUERY);
  client.emit('data', QUERY);
  expect([parked.isWaiting(), waits, left]).toEqual([true, 1, []]);
});

test('a client that sends more than the limit is not read any more', () => {
  const parked = park(Buffer.alloc(MOST_AHEAD - 1, 0x51));
  expect(client.isPaused()).toBe(false);
  client.emit('data', Buffer.of(1));
  expect(client.isPaused()).toBe(true);
  expect(parked.release().bytes).toHaveLength(MOST_AHEAD);
  park(Buffer.alloc(MOST_AHEAD, 0x51));
  expect(client.isPaused()).toBe(true);
});

test.each(['error', 'close'])('it has left: %s', (event) => {
  park(QUERY);
  client.emit(event, new Error('reset'));
  expect(left).toEqual(['client_reset']);
});

test('behind the release nothing is listened to', () => {
  const parked = park();
  client.on('error', () => {});
  parked.release();
  for (const event of ['data', 'end', 'error', 'close']) client.emit(event, QUERY);
  expect([left, waits, parked.isWaiting()]).toEqual([[], 0, false]);
});

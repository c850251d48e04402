// A parked client is read ahead, up to a limit: so it is known which clients wait, and which have left.
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WaitingBytes } from '../../../../src/proxy/cancel/waiting-bytes.ts';
import { ParkedClient } from '../../../../src/proxy/moves/parked-client.ts';
import { QUERY, TERMINATE, parameterStatus, readyForQuery } from '../../../support/sockets/messages.ts';
import { errorFields } from '../../../support/sockets/packets.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const MOST_AHEAD = 16 * 1024;
/** As the server says it: integer_datetimes. */
const TOLD = parameterStatus('integer_datetimes', 'on');

let client: Socket;
let clock: ManualClock;
let written: Buffer[];
let left: string[];
/** How often it was told that the client waits. */
let waits: number;
/** How often it was told that the rest of a cancelled statement has come. */
let wholes: number;

beforeEach(() => {
  client = new Socket({ allowHalfOpen: true });
  clock = new ManualClock();
  [left, waits, wholes, written] = [[], 0, 0, []];
  vi.spyOn(client, 'write').mockImplementation((bytes: string | Uint8Array) => {
    written.push(Buffer.from(bytes));
    return true;
  });
});

afterEach(() => client.destroy());

function park(...chunks: readonly Uint8Array[]): ParkedClient {
  const waiting = new WaitingBytes();
  // The socket of the test before closes late.
  const mine = left;
  for (const chunk of chunks) waiting.add(chunk);
  return new ParkedClient({
    client,
    clock,
    waiting,
    onLeft: (reason) => mine.push(reason),
    onWaiting: () => (waits += 1),
    onWhole: () => (wholes += 1),
  });
}

test('what the client has sent already and what it sends now is kept, in order', () => {
  const parked = park(QUERY.subarray(0, 3));
  expect([parked.isWaiting(), client.isPaused()]).toEqual([true, false]);
  client.emit('data', QUERY.subarray(3));
  parked.release();
  expect(parked.ahead()).toEqual({ bytes: Uint8Array.from(QUERY), hasEnded: false });
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
  expect(parked.ahead().bytes).toHaveLength(MOST_AHEAD);
  park(Buffer.alloc(MOST_AHEAD, 0x51));
  expect(client.isPaused()).toBe(true);
});

/** Above the limit, as in an event of a socket, whose ticks come before its microtasks. */
async function parkAbove(then?: (parked: ParkedClient) => void): Promise<ParkedClient> {
  const { promise, resolve } = Promise.withResolvers<ParkedClient>();
  setImmediate(() => {
    const parked = park(Buffer.concat([QUERY, Buffer.alloc(MOST_AHEAD - QUERY.length, 0x51)]));
    then?.(parked);
    resolve(parked);
  });
  const parked = await promise;
  await turn();
  return parked;
}

describe('above the limit', () => {
  let handle: { reading: boolean };

  beforeEach(() => {
    handle = Object.assign(
      { reading: true },
      {
        onread: () => {},
        readStart: () => 0,
        readStop: () => 0,
        useUserBuffer: () => {},
        writeBuffer: () => 0,
        close: (closed: () => void) => closed(),
      },
    );
    Reflect.set(client, '_handle', handle);
  });

  test('Node reads nothing either, although its stream begins once more', async () => {
    const parked = await parkAbove();
    expect(handle.reading).toBe(false);
    parked.release();
    expect(handle.reading).toBe(true);
  });

  test('unless it is released, or has room again, in the same turn', async () => {
    await parkAbove((parked) => parked.release());
    expect(handle.reading).toBe(true);
    await parkAbove((parked) => parked.cancel());
    expect(handle.reading).toBe(true);
  });

  test('a client whose statement is cancelled then is read again, and no longer looked after', async () => {
    const parked = await parkAbove();
    expect([client.isPaused(), clock.pending()]).toEqual([true, 1]);
    parked.cancel();
    expect([handle.reading, client.isPaused(), clock.pending()]).toEqual([true, false, 0]);
  });
});

test('a client that says goodbye has left, and does not wait', () => {
  park();
  client.emit('data', TERMINATE);
  expect([left, waits]).toEqual([['client_closed'], 0]);
});

test('a client whose transaction was ended is told something only where there is something to tell', () => {
  const told: Uint8Array[] = [];
  const owed = { error: Buffer.from('error'), textOf: () => undefined };
  const ended = { owed, tell: (bytes: Uint8Array) => told.push(bytes), onTold: () => {} };
  const parked = new ParkedClient({
    client,
    clock,
    waiting: undefined,
    ended,
    onLeft: () => {},
    onWaiting: () => {},
    onWhole: () => {},
  });
  client.emit('data', QUERY.subarray(0, 3));
  expect([told, parked.isOwed()]).toEqual([[], true]);
  client.emit('data', QUERY.subarray(3));
  expect([told.length, parked.isOwed()]).toEqual([1, false]);
});

test('the rest of a cancelled statement is told once, and is no statement that waits', () => {
  const parked = park(QUERY.subarray(0, 3));
  parked.cancel();
  expect(parked.isWhole()).toBe(false);
  client.emit('data', QUERY.subarray(3, 6));
  expect(wholes).toBe(0);
  client.emit('data', QUERY.subarray(6));
  client.emit('data', QUERY);
  expect([parked.isWhole(), wholes, waits]).toEqual([true, 1, 1]);
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

test.each([
  ['has sent more than the limit', () => client.emit('data', Buffer.alloc(MOST_AHEAD, 0x51))],
  ['has half-closed behind a statement', () => [client.emit('data', QUERY), client.emit('end')]],
])('a client that %s is told a value that it knows, so that a reset shows', async (_, happens) => {
  const parked = park();
  await clock.advance(10_000);
  expect(written).toEqual([]);
  happens();
  await clock.advance(1_000);
  expect(written.length).toBeGreaterThan(3);
  expect(Buffer.concat(written)).toEqual(Buffer.concat(written.map(() => TOLD)));
  await clock.advance(30_000);
  expect(written.length).toBeLessThan(40);
  client.emit('error', new Error('write EPIPE'));
  expect([left, clock.pending()]).toEqual([['client_reset'], 0]);
  parked.release();
});

test('a cancelled statement is answered and gone, also where its client has half-closed behind it', () => {
  const parked = park(QUERY);
  parked.cancel();
  const [answer = Buffer.alloc(0), ...more] = written;
  expect(errorFields(answer)).toMatchObject({ S: 'ERROR', C: '57014' });
  expect([more, answer.subarray(-6)]).toEqual([[], readyForQuery('I')]);
  expect([parked.isWaiting(), parked.isWhole(), left]).toEqual([false, true, []]);
  client.emit('data', QUERY);
  client.emit('end');
  expect(left).toEqual([]);
  parked.cancel();
  expect(left).toEqual(['client_closed']);
  expect(clock.pending()).toBe(0);
});

test('a client that had half-closed before the park is known to have', () => {
  Object.defineProperty(client, 'readableEnded', { value: true });
  expect(park(QUERY).ahead()).toMatchObject({ hasEnded: true });
});

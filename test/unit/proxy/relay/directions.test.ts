// The way of a client's chunks behind the gate: none is lost, whatever the gate does meanwhile.
import { beforeEach, expect, test } from 'vitest';
import { ToBackend, ToClient } from '../../../../src/proxy/relay/directions.ts';
import type { Taps } from '../../../../src/proxy/relay/directions.ts';
import type { ClientGate } from '../../../../src/proxy/relay/stall-gate.ts';
import type { Pipe } from '../../../../src/proxy/relay/stream-pipe.ts';
import { FLUSH, QUERY, SYNC } from '../../../support/sockets/messages.ts';

let sent: string[];
let calls: string[];
let late: string[];

beforeEach(() => {
  [sent, calls, late] = [[], [], []];
});

const pipe: Pipe = {
  start() {},
  send: (bytes) => sent.push(Buffer.from(bytes).toString()),
  pause: () => calls.push('pause'),
  resume: () => calls.push('resume'),
  flush() {},
  whenFlushed: (end) => end(),
  discard() {},
  closed() {},
  detach() {},
};

function direction(gate: ClientGate, fromClient?: Taps['fromClient']): ToBackend {
  const traffic = { toBackendBytes: 0, toClientBytes: 0 };
  const taps = fromClient && { fromClient, fromBackend: () => true, passedToClient() {} };
  return new ToBackend(pipe, { taps, gate, traffic, poolTraffic: { ...traffic } });
}

/** A gate that is closed until `open`. Its direction, and what the client is told. */
function closed() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let wait: Promise<void> | undefined = promise;
  const told: number[] = [];
  const toBackend = direction(() => wait);
  return {
    toBackend,
    told,
    open: async (): Promise<void> => {
      wait = undefined;
      resolve();
      await promise;
    },
    cancel: (error?: Uint8Array) => toBackend.cancelWaiting((bytes) => void told.push(bytes.length), error),
  };
}

function keepLate(chunk: Uint8Array): void {
  late.push(Buffer.from(chunk).toString());
}

test('the rest of a divided chunk is sent, also when the gate has opened meanwhile', async () => {
  let mayPass = 1;
  const toBackend = direction(
    () => undefined,
    (chunk) => (mayPass === Infinity ? undefined : Math.min(mayPass, chunk.length)),
  );
  toBackend.receive(Buffer.from('abc'));
  mayPass = Infinity;
  toBackend.receive(Buffer.from('def'));
  await Promise.resolve();
  expect(sent.join('')).toBe('abcdef');
  expect(calls).toEqual(['pause', 'resume']);
});

test('a chunk during which the gate parks the session goes to its new owner', () => {
  const toBackend: ToBackend = direction(() => {
    expect(toBackend.stop(keepLate)).toBeUndefined();
    return undefined;
  });
  const chunk = Buffer.from('select 1');
  toBackend.receive(chunk);
  chunk.fill(0);
  expect([sent, late]).toEqual([[], ['select 1']]);
});

test('bytes that waited keep their order when the gate parks the session at them', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOpen = false;
  const toBackend: ToBackend = direction(() => {
    if (!isOpen) return promise;
    toBackend.stop(keepLate);
    return undefined;
  });
  for (const text of ['one', 'two', 'three']) toBackend.receive(Buffer.from(text));
  isOpen = true;
  resolve();
  await promise;
  expect([sent, late.join(' ')]).toEqual([[], 'onetwothree']);
});

test('the rest of a chunk that is divided as the gate ends the session is dropped, and the pipe is left alone', () => {
  let asked = 0;
  const toBackend: ToBackend = direction(
    () => {
      asked += 1;
      if (asked === 2) toBackend.stop();
      return undefined;
    },
    () => 1,
  );
  toBackend.receive(Buffer.from('abc'));
  expect([sent, calls]).toEqual([['a'], []]);
});

test('a half-close behind a statement that is cancelled is passed on, because its rest never comes', () => {
  const toBackend = direction(() => new Promise(() => {}));
  toBackend.receive(Buffer.from('Q\0\0\0\x20sel'));
  let ends = 0;
  toBackend.whenSent(() => (ends += 1));
  expect([toBackend.cancelWaiting(() => {}), ends]).toEqual([true, 1]);
});

test('every byte counts once for its session and its pool, on either way', () => {
  const [traffic, poolTraffic] = [
    { toBackendBytes: 1, toClientBytes: 2 },
    { toBackendBytes: 10, toClientBytes: 20 },
  ];
  const options = { taps: undefined, gate: () => undefined, traffic, poolTraffic };
  new ToBackend(pipe, options).receive(Buffer.from('abc'));
  new ToClient(pipe, options).receive(Buffer.from('wxyz'));
  expect(sent).toEqual(['abc', 'wxyz']);
  expect([traffic, poolTraffic]).toEqual([
    { toBackendBytes: 4, toClientBytes: 6 },
    { toBackendBytes: 13, toClientBytes: 24 },
  ]);
});

test('a chunk of the server is shown before it is sent and told after it, and one that is kept is neither', () => {
  const traffic = { toBackendBytes: 0, toClientBytes: 0 };
  let isPassing = true;
  const taps: Taps = {
    fromClient: () => undefined,
    fromBackend(chunk) {
      sent.push(`shown ${Buffer.from(chunk).toString()}`);
      return isPassing;
    },
    passedToClient: () => sent.push('passed'),
  };
  const toClient = new ToClient(pipe, { taps, gate: () => undefined, traffic, poolTraffic: { ...traffic } });
  toClient.receive(Buffer.from('abc'));
  expect(sent.splice(0)).toEqual(['shown abc', 'abc', 'passed']);
  isPassing = false;
  toClient.receive(Buffer.from('def'));
  expect([sent, traffic.toClientBytes]).toEqual([['shown def'], 3]);
});

test('a chunk that passes whole, or not at all, is not divided', async () => {
  const passing = [3, 0, 3];
  const toBackend = direction(
    () => undefined,
    () => passing.shift(),
  );
  toBackend.receive(Buffer.from('abc'));
  expect([sent, calls, toBackend.isHolding()]).toEqual([['abc'], [], false]);
  toBackend.receive(Buffer.from('def'));
  expect([sent, calls, toBackend.isHolding()]).toEqual([['abc'], ['pause'], true]);
  await Promise.resolve();
  expect([sent, calls, toBackend.isHolding()]).toEqual([['abc', 'def'], ['pause', 'resume'], false]);
});

test('an end runs behind the bytes that wait, and at once where none does', async () => {
  const { toBackend, open } = closed();
  toBackend.whenSent(() => sent.push('first end'));
  toBackend.receive(Buffer.from('abc'));
  toBackend.whenSent(() => sent.push('second end'));
  toBackend.receive(Buffer.from('def'));
  expect(sent).toEqual(['first end']);
  await open();
  expect(sent).toEqual(['first end', 'abcdef', 'second end']);
});

test('an end runs behind bytes that the gate has closed for once more', async () => {
  const waits = [Promise.resolve(), Promise.resolve(), undefined];
  const toBackend = direction(() => waits.shift());
  toBackend.receive(Buffer.from('abc'));
  toBackend.whenSent(() => sent.push('end'));
  for (const left of [1, 0]) {
    expect([sent, waits.length > left]).toEqual([[], true]);
    await Promise.resolve();
  }
  expect([sent, calls]).toEqual([
    ['abc', 'end'],
    ['pause', 'resume', 'pause', 'resume'],
  ]);
});

test('bytes of a session that has left its server stay behind when the gate opens', async () => {
  const { toBackend, open } = closed();
  toBackend.receive(Buffer.from('abc'));
  expect(Buffer.from(toBackend.stop()?.bytes() ?? []).toString()).toBe('abc');
  await open();
  expect([sent, calls]).toEqual([[], ['pause']]);
});

test('a statement that waits is taken out with an answer; nothing else is', async () => {
  const { toBackend, told, cancel, open } = closed();
  expect(cancel()).toBe(false);
  toBackend.receive(FLUSH);
  expect([cancel(), told]).toEqual([false, []]);
  toBackend.receive(QUERY);
  toBackend.whenSent(() => sent.push('end'));
  expect(cancel(Buffer.from('error'))).toBe(true);
  // The answer ends with a ReadyForQuery.
  expect([told, calls, sent, toBackend.isHolding()]).toEqual([['error'.length + 6], ['pause'], [], true]);
  await open();
  expect([sent, calls, toBackend.isHolding()]).toEqual([['end'], ['pause', 'resume'], false]);
});

test('the rest of a cancelled statement is dropped as it comes, and the next one waits for the gate', async () => {
  const { toBackend, told, cancel, open } = closed();
  toBackend.receive(QUERY.subarray(0, 7));
  expect([cancel(Buffer.from('error')), told]).toEqual([true, [5]]);
  // An end of the client does not wait for a rest that never comes.
  toBackend.whenSent(() => sent.push('end'));
  expect([sent.splice(0), calls]).toEqual([['end'], ['pause', 'resume']]);
  toBackend.receive(QUERY.subarray(7, 9));
  expect(told).toEqual([5]);
  toBackend.receive(Buffer.concat([QUERY.subarray(9), SYNC]));
  expect([told, calls]).toEqual([
    [5, 6],
    ['pause', 'resume', 'pause'],
  ]);
  toBackend.receive(FLUSH);
  expect([sent, told.length, calls.length]).toEqual([[], 2, 3]);
  await open();
  expect([sent, calls]).toEqual([[Buffer.concat([SYNC, FLUSH]).toString()], ['pause', 'resume', 'pause', 'resume']]);
});

test('a gate that opens within a statement that was cancelled lets the bytes behind it pass', async () => {
  const { toBackend, told, cancel, open } = closed();
  toBackend.receive(QUERY.subarray(0, 7));
  cancel(Buffer.from('error'));
  await open();
  expect([sent, calls, toBackend.isHolding()]).toEqual([[], ['pause', 'resume'], true]);
  toBackend.receive(Buffer.concat([QUERY.subarray(7), SYNC]));
  expect([sent, told, toBackend.isHolding()]).toEqual([[SYNC.toString()], [5, 6], false]);
});

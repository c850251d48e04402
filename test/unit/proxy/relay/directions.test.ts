// The way of a client's chunks behind the gate: none is lost, whatever the gate does meanwhile.
import { beforeEach, expect, test } from 'vitest';
import { ToBackend } from '../../../../src/proxy/relay/directions.ts';
import type { Taps } from '../../../../src/proxy/relay/directions.ts';
import type { Gate } from '../../../../src/proxy/relay/stall-gate.ts';
import type { Pipe } from '../../../../src/proxy/relay/stream-pipe.ts';

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

function direction(gate: Gate, fromClient?: Taps['fromClient']): ToBackend {
  const traffic = { toBackendBytes: 0, toClientBytes: 0 };
  const taps = fromClient && { fromClient, fromBackend: () => true, passedToClient() {} };
  return new ToBackend(pipe, { taps, gate, traffic, poolTraffic: { ...traffic } });
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

import { expect, test } from 'vitest';
import { readAccepted } from '../../../src/proxy/accepted-reads.ts';
import { proveReads } from '../../../src/proxy/reads-proof.ts';
import type { ReadInto } from '../../../src/proxy/reads-proof.ts';
import { systemClock } from '../../../src/system-clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Reads as it should, and then the bytes go through `spoil`. */
function spoiledBy(spoil: (length: number) => number): ReadInto {
  return (socket, inflow) => {
    const { buffer, callback } = inflow.onread;
    const onread = { buffer, callback: (length: number, bytes: Uint8Array) => callback(spoil(length), bytes) };
    return readAccepted(socket, Object.assign(Object.create(inflow), { onread }));
  };
}

test('this Node reads accepted sockets as the proof demands', async () => {
  expect(await proveReads(readAccepted, systemClock)).toBeUndefined();
});

test('what cannot be is said', async () => {
  expect(await proveReads(() => false, systemClock)).toBe('this Node reads them another way');
});

test('a byte less is noticed', async () => {
  let reads = 0;
  const oneLess = spoiledBy((length) => (++reads === 40 && length > 1 ? length - 1 : length));
  expect(await proveReads(oneLess, systemClock)).toBe('bytes came back otherwise');
});

test('a proof that does not come in time is none', async () => {
  const clock = new ManualClock();
  const silent: ReadInto = (socket) => {
    socket.removeAllListeners('data').on('data', () => {});
    void clock.advance(10_000);
    return true;
  };
  expect(await proveReads(silent, clock)).toBe('no proof within 3000 ms');
  expect(clock.pending()).toBe(0);
});

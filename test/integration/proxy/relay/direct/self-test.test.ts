import { expect, test } from 'vitest';
import { directLanes } from '../../../../../src/proxy/relay/direct/pipes.ts';
import { proveDirectIo } from '../../../../../src/proxy/relay/direct/self-test.ts';
import type { OpenDirectLane } from '../../../../../src/proxy/relay/direct/self-test.ts';
import type { Lane } from '../../../../../src/proxy/relay/stream-pipe.ts';
import { systemClock } from '../../../../../src/app/system-clock.ts';
import { ManualClock } from '../../../../support/waiting/manual-clock.ts';

/** Reads as it should, and then the bytes go through `spoil`. */
function spoiledBy(spoil: (bytes: Uint8Array) => Uint8Array): OpenDirectLane {
  const openLane = directLanes();
  return (source, sink) => {
    const lane = openLane(source, sink);
    if (lane === undefined) return undefined;
    const flow: Lane['flow'] = (taker) => lane.flow({ take: (bytes) => taker.take(spoil(bytes)) });
    return Object.assign(Object.create(lane), {
      flow,
      send: (bytes: Uint8Array) => lane.send(bytes),
      flush: () => lane.flush(),
      closed: () => lane.closed(),
    });
  };
}

test('this Node relays past its streams as the proof demands', async () => {
  expect(await proveDirectIo(directLanes(), systemClock)).toBeUndefined();
});

test('what cannot be is said', async () => {
  expect(await proveDirectIo(() => undefined, systemClock)).toBe('this Node reads and writes another way');
});

test('a byte less is noticed', async () => {
  const oneLess = spoiledBy((bytes) => (bytes.length > 4096 ? bytes.subarray(1) : bytes));
  expect(await proveDirectIo(oneLess, systemClock)).toBe('bytes came back otherwise');
});

test('a proof that does not come in time is none', async () => {
  const clock = new ManualClock();
  const openLane = directLanes();
  const silent: OpenDirectLane = (source, sink) => {
    void clock.advance(10_000);
    const lane = openLane(source, sink);
    return lane && Object.assign(Object.create(lane), { flow: () => {}, closed: () => {} });
  };
  expect(await proveDirectIo(silent, clock)).toBe('no proof within 3000 ms');
  expect(clock.pending()).toBe(0);
});

import { expect, test } from 'vitest';
import { handleOf, isStreamHandle } from '../../../../../src/proxy/plain/internals.ts';
import { directPipes } from '../../../../../src/proxy/relay/direct/pipes.ts';
import { testDirectPipes } from '../../../../../src/proxy/relay/direct/self-test.ts';
import type { OpenDirectPipe } from '../../../../../src/proxy/relay/direct/self-test.ts';
import type { Pipe } from '../../../../../src/proxy/relay/stream-pipe.ts';
import { systemClock } from '../../../../support/waiting/system-clock.ts';
import { ManualClock } from '../../../../support/waiting/manual-clock.ts';

/** Reads correctly, and then passes the bytes through `spoil`. */
function spoiledBy(spoil: (bytes: Uint8Array) => Uint8Array): OpenDirectPipe {
  const openPipe = directPipes();
  return (source, sink) => {
    const pipe = openPipe(source, sink);
    if (pipe === undefined) return undefined;
    const start: Pipe['start'] = (receiver) => pipe.start({ receive: (bytes) => receiver.receive(spoil(bytes)) });
    return Object.assign(Object.create(pipe), {
      start,
      send: (bytes: Uint8Array) => pipe.send(bytes),
      flush: () => pipe.flush(),
      closed: () => pipe.closed(),
    });
  };
}

test('this Node passes the self-test of the relay pipes', async () => {
  expect(await testDirectPipes(directPipes(), systemClock)).toBeUndefined();
});

test('a Node without the internals is reported', async () => {
  expect(await testDirectPipes(() => undefined, systemClock)).toBe('this version of Node has other internals');
});

test('the self-test notices a missing byte', async () => {
  const oneLess = spoiledBy((bytes) => (bytes.length > 4096 ? bytes.subarray(1) : bytes));
  expect(await testDirectPipes(oneLess, systemClock)).toBe('bytes came back changed');
});

test('a self-test that takes too long has failed', async () => {
  const clock = new ManualClock();
  const openPipe = directPipes();
  const silent: OpenDirectPipe = (source, sink) => {
    void clock.advance(10_000);
    const pipe = openPipe(source, sink);
    return pipe && Object.assign(Object.create(pipe), { start: () => {}, closed: () => {} });
  };
  expect(await testDirectPipes(silent, clock)).toBe('the self-test took longer than 3000 ms');
  expect(clock.pending()).toBe(0);
});

test('the self-test sends until a sink stalls, and its source is not read meanwhile', async () => {
  const openPipe = directPipes();
  let stalls = 0;
  const watched: OpenDirectPipe = (source, sink) => {
    const handle = handleOf(source);
    if (!isStreamHandle(handle)) throw new Error('no handle');
    const { readStop } = handle;
    Object.assign(handle, {
      readStop: () => {
        if (Number(Reflect.get(handle, 'writeQueueSize')) > 0) stalls += 1;
        return readStop.call(handle);
      },
    });
    return openPipe(source, sink);
  };
  expect(await testDirectPipes(watched, systemClock)).toBeUndefined();
  expect(stalls).toBeGreaterThan(0);
});

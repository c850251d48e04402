// One direction by Node's streams: nothing is read while bytes wait at the sink, or while the pipe is held.
import { Socket } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { openStreamPipes, StreamPipe } from '../../../../src/proxy/relay/stream-pipe.ts';

let source: Socket;
let sink: Socket;
let pipe: StreamPipe;
let received: string[];
/** The answer of the sink to a write, and the bytes that wait in it. */
let full: { takes: boolean; length: number; needsDrain: boolean };
let written: string[];

beforeEach(() => {
  [source, sink, received, written] = [new Socket(), new Socket(), [], []];
  full = { takes: true, length: 0, needsDrain: false };
  sink.write = (bytes: unknown): boolean => {
    written.push(String(bytes));
    return full.takes;
  };
  Object.defineProperty(sink, 'writableLength', { get: () => full.length });
  Object.defineProperty(sink, 'writableNeedDrain', { get: () => full.needsDrain });
  pipe = new StreamPipe(source, sink);
});

function start(): void {
  pipe.start({ receive: (bytes) => void received.push(Buffer.from(bytes).toString()) });
}

test('it gives the bytes of its source to the receiver, and writes what it is told to its sink', () => {
  start();
  source.emit('data', Buffer.from('abc'));
  pipe.send(Buffer.from('def'));
  expect([received, written, source.isPaused()]).toEqual([['abc'], ['def'], false]);
});

test('each way has a pipe', () => {
  const [client, backend] = [new Socket(), new Socket()];
  backend.write = (bytes: unknown): boolean => written.push(String(bytes)) > 0;
  client.write = (bytes: unknown): boolean => written.push(`to client ${String(bytes)}`) > 0;
  const { toBackend, toClient } = openStreamPipes(client, backend);
  toBackend.send(Buffer.from('a'));
  toClient.send(Buffer.from('b'));
  expect(written).toEqual(['a', 'to client b']);
});

test.each([
  ['bytes wait at the sink', { takes: false, length: 3, needsDrain: true }, true],
  ['the sink is full, and has written all', { takes: false, length: 0, needsDrain: false }, false],
  ['the sink takes more', { takes: true, length: 3, needsDrain: false }, false],
])('%s: the source is paused or not', (_, state, isPaused) => {
  start();
  full = state;
  pipe.send(Buffer.from('abc'));
  expect(source.isPaused()).toBe(isPaused);
  full = { takes: true, length: 0, needsDrain: false };
  sink.emit('drain');
  expect(source.isPaused()).toBe(false);
});

test('a pipe that is held reads nothing until it goes on, whatever its sink has written', () => {
  start();
  pipe.pause();
  expect(source.isPaused()).toBe(true);
  sink.emit('drain');
  expect(source.isPaused()).toBe(true);
  pipe.resume();
  expect(source.isPaused()).toBe(false);
});

test('a pipe goes on when it is held no more and its sink has written all', () => {
  start();
  pipe.pause();
  full.needsDrain = true;
  pipe.resume();
  expect(source.isPaused()).toBe(true);
  full.needsDrain = false;
  sink.emit('drain');
  expect(source.isPaused()).toBe(false);
});

test('only a pipe that is held goes on', () => {
  start();
  source.pause();
  pipe.resume();
  expect(source.isPaused()).toBe(true);
});

test.each([
  ['is held', () => pipe.pause(), false],
  ['has a full sink', () => (full.needsDrain = true), false],
  ['is free', () => {}, true],
])('at its start a pipe that %s reads or not', (_, act, reads) => {
  source.pause();
  act();
  start();
  expect(source.isPaused()).toBe(!reads);
});

test('its end comes behind the bytes that wait in the stream', () => {
  let ends = 0;
  pipe.whenFlushed(() => (ends += 1));
  expect(ends).toBe(1);
});

test('bytes are dropped behind `discard`, and read all the same', () => {
  start();
  source.pause();
  pipe.discard();
  source.emit('data', Buffer.from('abc'));
  expect([received, source.isPaused()]).toEqual([[], false]);
});

test('nothing is left on the sockets', () => {
  const before = [source.listenerCount('data'), sink.listenerCount('drain')];
  start();
  pipe.detach();
  expect([source.listenerCount('data'), sink.listenerCount('drain')]).toEqual(before);
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { DirectPipe } from '../../../../../src/proxy/relay/direct/direct-pipe.ts';
import { WriteBatch } from '../../../../../src/proxy/relay/direct/write-batch.ts';
import { FakePipeEnd } from '../../../../support/fakes/fake-pipe-end.ts';
import { freeReadBuffers } from '../../../../support/sockets/free-read-buffers.ts';

/** As long as a small buffer: it is written at once, and a large buffer is lent for what comes next. */
const FULL = 1024;

class Lab {
  readonly source = new FakePipeEnd();
  readonly sink = new FakePipeEnd();
  readonly batch: WriteBatch;
  readonly pipe: DirectPipe;

  constructor(batch = new WriteBatch()) {
    this.batch = batch;
    this.pipe = new DirectPipe(this.source, this.sink, batch);
  }

  /** Everything is sent on. */
  flow(): this {
    this.pipe.start({ receive: (bytes) => this.pipe.send(bytes) });
    return this;
  }
}

let lab: Lab;

beforeEach(() => {
  lab = new Lab();
});

/** Somebody else has words for the end of this turn: whatever little comes now is gathered too. */
function openBatch(batch: WriteBatch): void {
  batch.add({ flush: () => true }, Buffer.from('others'));
}

describe('what waits for the kernel', () => {
  test('keeps its buffer: what another session says meanwhile is not read into it', () => {
    lab.flow().sink.takesAtOnce = false;
    lab.source.hear('a'.repeat(FULL));
    const other = new Lab().flow();
    other.source.hear('b'.repeat(FULL));
    lab.sink.takeOne();
    expect(lab.sink.taken()).toBe('a'.repeat(FULL));
    expect(other.sink.taken()).toBe('b'.repeat(FULL));
  });

  test('stops the reading until the last of it is written', () => {
    lab.flow().sink.takesAtOnce = false;
    lab.pipe.send(Buffer.from('one'));
    lab.pipe.send(Buffer.from('two'));
    expect(lab.source.isReading).toBe(false);
    lab.sink.takeOne();
    expect(lab.source.isReading).toBe(false);
    lab.sink.takeOne();
    expect(lab.source.isReading).toBe(true);
    expect(lab.sink.taken()).toBe('onetwo');
  });

  test('comes before the end of the sink, which is told once', () => {
    let ends = 0;
    lab.flow().sink.takesAtOnce = false;
    lab.pipe.send(Buffer.from('one'));
    lab.pipe.send(Buffer.from('two'));
    lab.pipe.whenFlushed(() => (ends += 1));
    lab.sink.takeOne();
    expect(ends).toBe(0);
    lab.sink.takeOne();
    expect(ends).toBe(1);
    lab.pipe.send(Buffer.from('three'));
    lab.sink.takeOne();
    expect(ends).toBe(1);
  });

  test('ends nobody once the sink is another’s', () => {
    let ends = 0;
    lab.flow().sink.takesAtOnce = false;
    lab.pipe.send(Buffer.from('one'));
    lab.pipe.whenFlushed(() => (ends += 1));
    lab.pipe.detach();
    lab.sink.takeOne();
    expect(ends).toBe(0);
  });
});

describe('what is gathered', () => {
  test('is written at the end of the turn', async () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    expect(lab.sink.taken()).toBe('');
    await nextTurn();
    expect(lab.sink.taken()).toBe('little');
  });

  test('is written before what comes behind it in the same turn', () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    lab.source.hear('x'.repeat(FULL));
    expect(lab.sink.taken()).toBe(`little${'x'.repeat(FULL)}`);
  });

  test('is written before the sink ends', () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    let before = '';
    lab.pipe.whenFlushed(() => (before = lab.sink.taken()));
    expect(before).toBe('little');
  });

  test('is dropped with the pipe', async () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    lab.pipe.detach();
    await nextTurn();
    expect(lab.sink.taken()).toBe('');
  });
});

describe('large buffers', () => {
  test('come back when both ends have closed', () => {
    const free = freeReadBuffers();
    lab.flow().source.hear('x'.repeat(FULL));
    expect(freeReadBuffers()).toBe(free - 1);
    lab.pipe.closed();
    expect(freeReadBuffers()).toBe(free);
  });

  test.each([
    ['little', 10],
    ['much', 2000],
  ])('come back once when the session is over in the middle of a read of %s', (_, length) => {
    const free = freeReadBuffers();
    lab.pipe.start({
      receive: (bytes) => {
        lab.pipe.send(bytes);
        if (bytes.length === length) lab.pipe.detach();
      },
    });
    lab.source.hear('x'.repeat(FULL));
    lab.source.hear('x'.repeat(length));
    expect(freeReadBuffers()).toBe(free);
    lab.pipe.detach();
    lab.pipe.closed();
    expect(freeReadBuffers()).toBe(free);
  });

  test('come back once when the session is over while bytes wait', () => {
    const free = freeReadBuffers();
    lab.flow().source.hear('x'.repeat(FULL));
    lab.sink.takesAtOnce = false;
    lab.source.hear('x'.repeat(2 * FULL));
    lab.pipe.closed();
    lab.sink.takeOne();
    expect(freeReadBuffers()).toBe(free);
  });
});

// The writer of the log: order, limits, and readers that are slow or gone.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LineWriter } from '../../../src/telemetry/line-writer.ts';

interface Harness {
  readonly writer: LineWriter;
  /** The text of each write, in order. */
  readonly written: string[];
  readonly dropped: number[];
  readonly failures: unknown[];
  /** Ends the current write: with an error, or after `bytes`. */
  readonly finish: (result?: { readonly code?: string; readonly bytes?: number }) => void;
}

type Done = (error: NodeJS.ErrnoException | null, bytes: number) => void;

function aWriter(mostBufferedBytes = 100): Harness {
  const written: string[] = [];
  const dropped: number[] = [];
  const failures: unknown[] = [];
  let [done, length]: [Done | undefined, number] = [undefined, 0];
  const writer = new LineWriter({
    fd: 1,
    mostBufferedBytes,
    onDropped: (lines) => dropped.push(lines),
    onFailing: ({ code }) => failures.push(code),
    write: (_fd, data, whenDone) => {
      written.push(String(data));
      [done, length] = [whenDone, data.length];
    },
  });
  const finish: Harness['finish'] = ({ code, bytes = length } = {}) =>
    code === undefined ? done?.(null, bytes) : done?.(Object.assign(new Error(code), { code }), 0);
  return { writer, written, dropped, failures, finish };
}

describe('a reader that keeps up', () => {
  test('one write at a time; lines in the meantime go in one piece', () => {
    const { writer, written, finish } = aWriter();
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    expect(written).toEqual(['a\n']);
    finish();
    expect(written).toEqual(['a\n', 'b\nc\n']);
  });

  test('a partial write is continued before the next', () => {
    const { writer, written, finish } = aWriter();
    writer.write('hello\n');
    writer.write('next\n');
    finish({ bytes: 2 });
    finish();
    expect(written).toEqual(['hello\n', 'llo\n', 'next\n']);
  });
});

describe('a slow reader', () => {
  test('lines above the limit are dropped, and their number is reported when it has caught up', () => {
    const { writer, written, dropped, finish } = aWriter(4);
    for (const line of ['a\n', 'b\n', 'c\n', 'd\n', 'e\n']) writer.write(line);
    finish();
    expect([written, dropped]).toEqual([['a\n', 'b\nc\n'], []]);
    finish();
    expect(dropped).toEqual([2]);
    writer.write('f\n');
    finish();
    expect([written.at(-1), dropped]).toEqual(['f\n', [2]]);
  });

  test('a closed pipe ends the writing: no more tries, and no line is kept', () => {
    const { writer, written, failures, finish } = aWriter();
    for (const line of ['a\n', 'waiting\n']) writer.write(line);
    finish({ code: 'EPIPE' });
    writer.write('b\n');
    expect(written).toEqual(['a\n']);
    expect([writer.dropped(), failures]).toEqual([3, ['EPIPE']]);
  });
});

describe('a disk that is full for a moment', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'])(
    '%s: the same bytes are tried again until they are written',
    (code) => {
      const { writer, written, dropped, failures, finish } = aWriter();
      writer.write('a\n');
      finish({ code });
      writer.write('b\n');
      expect(written).toEqual(['a\n']);
      vi.advanceTimersByTime(1000);
      finish({ code });
      vi.advanceTimersByTime(1000);
      finish();
      expect(written).toEqual(['a\n', 'a\n', 'a\n', 'b\n']);
      expect([writer.dropped(), dropped, failures]).toEqual([0, [], [code]]);
    },
  );

  test('lines beyond the memory limit are counted, and reported when there is room', () => {
    const { writer, dropped, finish } = aWriter(4);
    for (const line of ['a\n', 'b\n', 'c\n', 'd\n', 'e\n']) writer.write(line);
    finish({ code: 'ENOSPC' });
    expect([writer.dropped(), dropped]).toEqual([2, []]);
    vi.advanceTimersByTime(1000);
    finish();
    finish();
    expect([writer.dropped(), dropped]).toEqual([2, [2]]);
  });

  test('a written part is not written again', () => {
    const { writer, written, finish } = aWriter();
    writer.write('hello\n');
    finish({ bytes: 2 });
    finish({ code: 'ENOSPC' });
    vi.advanceTimersByTime(1000);
    finish();
    expect(written).toEqual(['hello\n', 'llo\n', 'llo\n']);
  });
});

describe('flush', () => {
  test('resolves once everything is written, waiting lines included', async () => {
    const { writer, written, finish } = aWriter();
    for (const line of ['a\n', 'b\n']) writer.write(line);
    let isFlushed = false;
    const flushed = writer.flush().then(() => (isFlushed = true));
    finish();
    await Promise.resolve();
    expect([isFlushed, written]).toEqual([false, ['a\n', 'b\n']]);
    finish();
    await flushed;
    await writer.flush();
  });

  test('resolves after lines were dropped too', async () => {
    const { writer, finish, dropped } = aWriter(2);
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    const flushed = writer.flush();
    finish();
    finish();
    await flushed;
    expect(dropped).toEqual([1]);
  });

  test('resolves when the reader is gone, so that the process can end', async () => {
    const { writer, finish } = aWriter();
    for (const line of ['a\n', 'b\n']) writer.write(line);
    const flushed = writer.flush();
    finish({ code: 'EPIPE' });
    await flushed;
    await writer.flush();
  });
});

// The log's way out: order, bounds, and readers that are slow or gone.
import { describe, expect, test } from 'vitest';
import { LineWriter } from '../../../src/telemetry/line-writer.ts';

interface Harness {
  readonly writer: LineWriter;
  /** What each write was given, in order. */
  readonly written: string[];
  readonly dropped: number[];
  /** Ends the write under way: with an error, or after `bytes`. */
  readonly finish: (result?: { readonly code?: string; readonly bytes?: number }) => void;
}

type Done = (error: NodeJS.ErrnoException | null, bytes: number) => void;

function aWriter(mostBufferedBytes = 100): Harness {
  const written: string[] = [];
  const dropped: number[] = [];
  let [done, length]: [Done | undefined, number] = [undefined, 0];
  const writer = new LineWriter({
    fd: 1,
    mostBufferedBytes,
    onDropped: (lines) => dropped.push(lines),
    write: (_fd, data, whenDone) => {
      written.push(String(data));
      [done, length] = [whenDone, data.length];
    },
  });
  const finish: Harness['finish'] = ({ code, bytes = length } = {}) =>
    code === undefined ? done?.(null, bytes) : done?.(Object.assign(new Error(code), { code }), 0);
  return { writer, written, dropped, finish };
}

describe('a reader that keeps up', () => {
  test('one write at a time; what came meanwhile goes in one piece', () => {
    const { writer, written, finish } = aWriter();
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    expect(written).toEqual(['a\n']);
    finish();
    expect(written).toEqual(['a\n', 'b\nc\n']);
  });

  test('a write that took only a part is continued before the next', () => {
    const { writer, written, finish } = aWriter();
    writer.write('hello\n');
    writer.write('next\n');
    finish({ bytes: 2 });
    finish();
    expect(written).toEqual(['hello\n', 'llo\n', 'next\n']);
  });
});

describe('a reader that does not', () => {
  test('lines beyond the bound are dropped, and their number is told when it has caught up', () => {
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

  test('a closed pipe ends the writing: nothing more is tried, nothing is kept', () => {
    const { writer, written, finish } = aWriter();
    for (const line of ['a\n', 'waiting\n']) writer.write(line);
    finish({ code: 'EPIPE' });
    writer.write('b\n');
    expect(written).toEqual(['a\n']);
  });
});

describe('flush', () => {
  test('resolves once everything is written, what waited too', async () => {
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

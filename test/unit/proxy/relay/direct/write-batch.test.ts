import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { WriteBatch } from '../../../../../src/proxy/relay/direct/write-batch.ts';

/** A writer with bytes for the kernel, which accepts them at once or not. */
class Sender {
  readonly written: string[] = [];
  takesAll = true;
  gathered: Uint8Array | undefined;

  send(batch: WriteBatch, text: string): void {
    this.gathered = batch.add(this, Buffer.from(text));
  }

  failed(error: unknown): void {
    throw error;
  }

  flush(): boolean {
    if (this.gathered !== undefined) this.written.push(Buffer.from(this.gathered).toString());
    return this.takesAll;
  }
}

/** Counts the checks until the batch is open. */
function closedTimes(batch: WriteBatch): number {
  let times = 0;
  while (!batch.isOpen()) times += 1;
  return times;
}

test('batched writers are flushed at the end of the turn, in order', async () => {
  const batch = new WriteBatch();
  const senders = [new Sender(), new Sender()];
  senders.forEach((sender, at) => sender.send(batch, `word ${at}`));
  expect(senders.map(({ written }) => written)).toEqual([[], []]);
  await nextTurn();
  expect(senders.map(({ written }) => written)).toEqual([['word 0'], ['word 1']]);
});

test('with few writers batching is tried now and then; with more it stays on', async () => {
  const batch = new WriteBatch();
  expect(closedTimes(batch)).toBeGreaterThan(10);
  new Sender().send(batch, 'alone');
  expect(batch.isOpen()).toBe(true);
  await nextTurn();
  expect(closedTimes(batch)).toBeGreaterThan(10);
  for (let count = 0; count < 5; count += 1) new Sender().send(batch, 'one of many');
  await nextTurn();
  expect(closedTimes(batch)).toBe(0);
});

test('bytes are copies, and stay until the kernel has accepted them', async () => {
  const batch = new WriteBatch();
  const sender = new Sender();
  sender.takesAll = false;
  const bytes = Buffer.from('first');
  sender.gathered = batch.add(sender, bytes);
  bytes.fill('x');
  await nextTurn();
  const waiting = sender.gathered;
  new Sender().send(batch, 'other');
  expect(Buffer.from(waiting).toString()).toBe('first');
});

test('a writer that fails does not delay the bytes of the others, and the next turn is written as usual', () => {
  vi.useFakeTimers({ toFake: ['setImmediate'] });
  try {
    const batch = new WriteBatch();
    const [before, after, next] = [new Sender(), new Sender(), new Sender()];
    before.send(batch, 'before');
    const broken = Object.assign(new Sender(), { flush: () => expect.unreachable('as a socket might') });
    batch.add(broken, Buffer.from('lost'));
    after.send(batch, 'after');
    expect(() => vi.runAllTimers()).toThrow('as a socket might');
    expect([before.written, after.written]).toEqual([['before'], ['after']]);
    next.send(batch, 'next');
    vi.runAllTimers();
    expect([after.written, next.written]).toEqual([['after'], ['next']]);
  } finally {
    vi.useRealTimers();
  }
});

test('the hook before the writes is called once', async () => {
  const seen: string[][] = [];
  const senders = [new Sender(), new Sender()];
  const batch = new WriteBatch(() => seen.push(senders.flatMap(({ written }) => written)));
  senders.forEach((sender, at) => sender.send(batch, `word ${at}`));
  await nextTurn();
  expect(seen).toEqual([[]]);
  expect(senders.map(({ written }) => written)).toEqual([['word 0'], ['word 1']]);
});

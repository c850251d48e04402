import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { WriteTurn } from '../../../../../src/proxy/relay/direct/write-batch.ts';

/** Somebody with bytes for the kernel, which takes them at once or not. */
class Sender {
  readonly written: string[] = [];
  takesAll = true;
  gathered: Uint8Array | undefined;

  send(turn: WriteTurn, text: string): void {
    this.gathered = turn.add(this, Buffer.from(text));
  }

  flush(): boolean {
    if (this.gathered !== undefined) this.written.push(Buffer.from(this.gathered).toString());
    return this.takesAll;
  }
}

/** Asks until it is open. Returns how often it was not. */
function closedTimes(turn: WriteTurn): number {
  let times = 0;
  while (!turn.isOpen()) times += 1;
  return times;
}

test('what was gathered is told to flush at the end of the turn, in order', async () => {
  const turn = new WriteTurn();
  const senders = [new Sender(), new Sender()];
  senders.forEach((sender, at) => sender.send(turn, `word ${at}`));
  expect(senders.map(({ written }) => written)).toEqual([[], []]);
  await nextTurn();
  expect(senders.map(({ written }) => written)).toEqual([['word 0'], ['word 1']]);
});

test('with few at work it looks now and then; with more it stays open', async () => {
  const turn = new WriteTurn();
  expect(closedTimes(turn)).toBeGreaterThan(10);
  new Sender().send(turn, 'alone');
  expect(turn.isOpen()).toBe(true);
  await nextTurn();
  expect(closedTimes(turn)).toBeGreaterThan(10);
  for (let count = 0; count < 5; count += 1) new Sender().send(turn, 'one of many');
  await nextTurn();
  expect(closedTimes(turn)).toBe(0);
});

test('bytes are copies, and stay while the kernel has not taken them', async () => {
  const turn = new WriteTurn();
  const sender = new Sender();
  sender.takesAll = false;
  const bytes = Buffer.from('first');
  sender.gathered = turn.add(sender, bytes);
  bytes.fill('x');
  await nextTurn();
  const waiting = sender.gathered;
  new Sender().send(turn, 'other');
  expect(Buffer.from(waiting).toString()).toBe('first');
});

test('one that fails keeps nobody else’s bytes back, and the next turn is written as ever', () => {
  vi.useFakeTimers({ toFake: ['setImmediate'] });
  try {
    const turn = new WriteTurn();
    const [before, after, next] = [new Sender(), new Sender(), new Sender()];
    before.send(turn, 'before');
    turn.add({ flush: () => expect.unreachable('as a socket might') }, Buffer.from('lost'));
    after.send(turn, 'after');
    expect(() => vi.runAllTimers()).toThrow('as a socket might');
    expect([before.written, after.written]).toEqual([['before'], ['after']]);
    next.send(turn, 'next');
    vi.runAllTimers();
    expect([after.written, next.written]).toEqual([['after'], ['next']]);
  } finally {
    vi.useRealTimers();
  }
});

test('it judges once before it writes', async () => {
  const seen: string[][] = [];
  const senders = [new Sender(), new Sender()];
  const turn = new WriteTurn(() => seen.push(senders.flatMap(({ written }) => written)));
  senders.forEach((sender, at) => sender.send(turn, `word ${at}`));
  await nextTurn();
  expect(seen).toEqual([[]]);
  expect(senders.map(({ written }) => written)).toEqual([['word 0'], ['word 1']]);
});

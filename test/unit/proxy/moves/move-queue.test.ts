// The order in which parked sessions move.
import { beforeEach, expect, test } from 'vitest';
import { MoveQueue } from '../../../../src/proxy/moves/move-queue.ts';

interface Parked {
  readonly name: string;
  isWaiting(): boolean;
}

let queue: MoveQueue<Parked>;

beforeEach(() => {
  queue = new MoveQueue();
});

function add(name: string, { isWaiting = false, isRepeated = false } = {}): Parked {
  const session = { name, isWaiting: () => isWaiting };
  queue.add(session, isRepeated);
  return session;
}

function takeAll(): string {
  const names: string[] = [];
  while (!queue.isEmpty() && names.length < 20) names.push(queue.take()?.name ?? '?');
  return names.join(' ');
}

test('waiting clients first, the longest wait first; then those that were parked last', () => {
  for (const name of ['a', 'b', 'c']) add(name);
  add('w1', { isWaiting: true });
  add('w2', { isWaiting: true });
  expect(takeAll()).toBe('w1 w2 c b a');
  expect(queue.isEmpty()).toBe(true);
});

test('a client that begins to wait overtakes', () => {
  const a = add('a');
  for (const name of ['b', 'c']) add(name);
  queue.waits(a);
  expect(takeAll()).toBe('a c b');
});

test('sessions that failed before leave every other turn to the others, and come after clients that wait', () => {
  for (const name of ['a', 'b', 'c']) add(name);
  for (const name of ['x', 'y', 'z']) add(name, { isRepeated: true, isWaiting: name === 'y' });
  add('w', { isWaiting: true });
  expect(takeAll()).toBe('w c y b z a x');
});

test('sessions that fail again and again do not keep the others waiting', () => {
  add('quiet');
  const failing = ['x', 'y'].map((name) => add(name, { isRepeated: true, isWaiting: true }));
  const taken: (string | undefined)[] = [];
  for (let round = 0; round < 3; round += 1) {
    const session = queue.take();
    taken.push(session?.name);
    if (session !== undefined && failing.includes(session)) queue.add(session, true);
  }
  expect(taken).toContain('quiet');
});

test('a session that has left is taken no more', () => {
  const [a, b] = [add('a'), add('b')];
  add('c');
  queue.remove(b);
  expect(takeAll()).toBe('c a');
  queue.remove(a);
  queue.waits(a);
  expect(queue.isEmpty()).toBe(true);
});

import { expect, test } from 'vitest';
import { LinkedList } from '../../../src/proxy/linked-list.ts';

function filled() {
  const list = new LinkedList<string>();
  return { list, a: list.add('a'), b: list.add('b'), c: list.add('c') };
}

test('keeps the order in which values came, wherever one is taken out', () => {
  for (const [name, left] of [
    ['a', ['b', 'c']],
    ['b', ['a', 'c']],
    ['c', ['a', 'b']],
  ] as const) {
    const { list, ...links } = filled();
    expect(list.remove(links[name])).toBe(true);
    expect([...list]).toEqual(left);
    list.add('d');
    expect([...list]).toEqual([...left, 'd']);
    expect(list.size).toBe(3);
  }
});

test('takes a value out once', () => {
  const { list, b } = filled();
  expect(list.remove(b)).toBe(true);
  expect(list.remove(b)).toBe(false);
  expect([list.size, ...list]).toEqual([2, 'a', 'c']);
});

test('takes nothing out of another list', () => {
  const [one, other] = [filled(), filled()];
  expect(one.list.remove(other.a)).toBe(false);
  expect([[...one.list], [...other.list]]).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ]);
});

test('a link that is out refers to no other: garbage would keep it', () => {
  const { list, b } = filled();
  list.remove(b);
  expect(b).toEqual({ value: 'b', list: undefined, before: undefined, after: undefined });
});

test('goes on when the value of the turn is taken out', () => {
  const { list, b } = filled();
  const seen: string[] = [];
  for (const value of list) {
    seen.push(value);
    if (value === 'b') list.remove(b);
  }
  expect(seen).toEqual(['a', 'b', 'c']);
});

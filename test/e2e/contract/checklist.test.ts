// The checklist and the suite agree: each item has a test, each test names existing items, and each known difference is
// still a difference.
import { expect, it } from 'vitest';
import { allItems, sectionOf } from '../../support/contract/checklist.ts';
import { expectations } from '../../support/contract/expectations.ts';
import { knownDifferences } from '../../support/contract/known-differences.ts';
import { SUITE } from './suite.ts';

function namedItems(): readonly string[] {
  const named: string[] = [];
  for (const area of SUITE) area.define((items) => named.push(...(typeof items === 'string' ? [items] : items)));
  return named;
}

it('a contract test names every item of the checklist', () => {
  const named = new Set(namedItems());
  expect(allItems().filter((item) => !named.has(item))).toEqual([]);
});

it('every contract test names only items of the checklist', () => {
  expect(namedItems().filter((item) => sectionOf(item) === undefined)).toEqual([]);
});

it('every known difference belongs to an item, once per target, and has a reason', () => {
  const keys = knownDifferences().flatMap(({ item, targets }) => targets.map((target) => `${target}: ${item}`));
  expect(keys).toEqual([...new Set(keys)]);
  expect(knownDifferences().filter(({ item }) => sectionOf(item) === undefined)).toEqual([]);
  expect(knownDifferences().filter(({ reason, targets }) => reason.length < 10 || targets.length === 0)).toEqual([]);
});

it('a known difference replaces the value of the contract, and only while they differ', () => {
  const differences = [
    { item: 'node.role', targets: ['sandbox'], instead: 'master', reason: 'for this test' },
  ] as const;
  const { expected, finish } = expectations(['node.role', 'node.state'], differences);
  expect(expected('node.state', 'running')).toBe('running');
  expect(finish).toThrow('not looked at: node.role');
  expect(expected('node.role', 'primary')).toBe('master');
  expect(finish).not.toThrow();
  expect(() => expected('node.role', 'master')).toThrow('no difference: node.role');
  expect(() => expected('node.tags', {})).toThrow('does not name node.tags');
});

// The expectation of a target: the contract's, or the one in the table of known differences. A listed difference that
// is gone, or that its test does not ask for, is an error: no line of the table outlives its reason.
import { isDeepStrictEqual } from 'node:util';
import type { ItemId } from './checklist.ts';
import type { KnownDifference } from './known-differences.ts';

export interface Expectations {
  /** The contract's word, unless the target is known to differ in this item. */
  readonly expected: (item: ItemId, contractual: unknown) => unknown;
  /** Throws when a listed difference was not asked for. */
  readonly finish: () => void;
}

/** For one test, which names `items`; `differences` are its target's. */
export function expectations(items: readonly ItemId[], differences: readonly KnownDifference[]): Expectations {
  const mine = differences.filter(({ item }) => items.includes(item));
  const asked = new Set<ItemId>();
  return {
    expected: (item, contractual) => {
      if (!items.includes(item)) throw new Error(`the test does not name ${item}`);
      asked.add(item);
      const difference = mine.find((entry) => entry.item === item);
      if (difference === undefined) return contractual;
      if (isDeepStrictEqual(difference.instead, contractual)) throw new Error(`no difference: ${item}`);
      return difference.instead;
    },
    finish: () => {
      const forgotten = mine.filter(({ item }) => !asked.has(item)).map(({ item }) => item);
      if (forgotten.length > 0) throw new Error(`known differences not looked at: ${forgotten.join(', ')}`);
    },
  };
}

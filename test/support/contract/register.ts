// Registers the suite for one target with vitest: one cluster, areas in order, a healthy cluster at the start of a
// test.
import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { type ItemId, sectionOf } from './checklist.ts';
import type { Area, Contract } from './contract.ts';
import { expectations } from './expectations.ts';
import { differencesOf } from './known-differences.ts';
import { questionsTo } from './run.ts';
import type { ContractTarget } from './target.ts';

export interface Extent {
  /** Whether the test of these items is registered; without this, every test is. */
  readonly isWanted?: (items: readonly ItemId[]) => boolean;
}

export function registerContract(
  areas: readonly Area[],
  start: () => Promise<ContractTarget>,
  { isWanted = () => true }: Extent = {},
): void {
  let target: ContractTarget | undefined;
  const started = (): ContractTarget => {
    if (target === undefined) throw new Error('the cluster did not start');
    return target;
  };

  beforeAll(async () => {
    target = await start();
  });
  afterAll(() => target?.destroy());
  beforeEach(() => started().waitUntilHealthy());

  const contract: Contract = (items, title, run) => {
    const named = asList(items);
    if (!isWanted(named)) return;
    it(`${sectionOf(named[0] ?? '') ?? 'no section'} · ${title}`, async () => {
      const { expected, finish } = expectations(named, differencesOf(started().name, started().version));
      await run({ ...questionsTo(started()), expected });
      finish();
    });
  };
  for (const area of areas.filter((one) => itemsOf(one).some(isWanted))) {
    describe(area.name, () => area.define(contract));
  }
}

function asList(items: ItemId | readonly ItemId[]): readonly ItemId[] {
  return typeof items === 'string' ? [items] : items;
}

/** The items of each of its tests. */
function itemsOf(area: Area): readonly (readonly ItemId[])[] {
  const all: (readonly ItemId[])[] = [];
  area.define((items) => void all.push(asList(items)));
  return all;
}

// A contract test is registered with the items of the checklist that it holds, a title, and a function. The suite is a
// function of a `Contract`, so that the same tests register for each target, and for the check that no item is
// forgotten.
import type { ItemId } from './checklist.ts';
import type { ContractRun } from './run.ts';

export type Contract = (
  items: ItemId | readonly ItemId[],
  title: string,
  run: (on: ContractRun) => Promise<void>,
) => void;

/** A part of the suite; its tests run in their order and leave the cluster as they found it. */
export interface Area {
  readonly name: string;
  readonly define: (contract: Contract) => void;
}

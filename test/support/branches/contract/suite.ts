// Registers the contract suite with vitest: a test for each line of contract 2, on each of the targets.
import { afterAll, beforeAll, test } from 'vitest';
import { CONSOLE_TESTS } from './console-tests.ts';
import { LINES } from './lines.ts';
import type { LineId } from './lines.ts';
import { STORAGE_TESTS } from './storage-tests.ts';
import type { ContractTarget } from './target.ts';

export type LineTests = Readonly<Record<LineId, (on: ContractTarget) => Promise<void>>>;

const TESTS: LineTests = { ...STORAGE_TESTS, ...CONSOLE_TESTS };

/** `start` gives the servers, with a name for messages. */
export function registerBranchContract(start: () => Promise<ReadonlyMap<string, ContractTarget>>): void {
  let targets: ReadonlyMap<string, ContractTarget> = new Map();
  beforeAll(async () => {
    targets = await start();
  }, 300_000);
  afterAll(async () => {
    for (const target of targets.values()) await target.stop();
  }, 300_000);

  for (const [id, title] of Object.entries(LINES)) {
    test(title, { timeout: 300_000 }, async () => {
      for (const [name, target] of targets) {
        try {
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key of LINES
          await TESTS[id as LineId](target);
        } catch (error) {
          throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
        }
      }
    });
  }
}

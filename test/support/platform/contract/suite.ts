// Registers the contract suite with vitest: a test for each line of contract 3, on each of the targets.
import { afterAll, beforeAll, test } from 'vitest';
import { FILE_TESTS } from './file-tests.ts';
import { LINES } from './lines.ts';
import type { LineId } from './lines.ts';
import { MESSAGE_TESTS } from './message-tests.ts';
import { SKILL_TESTS } from './skill-tests.ts';
import { inBatches } from './target.ts';
import type { PlatformTarget } from './target.ts';
import { TOOLSET_TESTS } from './toolset-tests.ts';

export type LineTest = (on: PlatformTarget) => Promise<void>;

const TESTS: Readonly<Record<LineId, LineTest>> = { ...SKILL_TESTS, ...FILE_TESTS, ...MESSAGE_TESTS, ...TOOLSET_TESTS };

/** `start` gives the platforms, with a name for messages. */
export function registerPlatformContract(start: () => Promise<ReadonlyMap<string, PlatformTarget>>): void {
  let targets: ReadonlyMap<string, PlatformTarget> = new Map();
  beforeAll(async () => {
    targets = await start();
  }, 300_000);
  afterAll(async () => {
    for (const target of targets.values()) await target.stop();
  }, 300_000);

  for (const [id, title] of Object.entries(LINES)) {
    test(title, { timeout: 300_000 }, async () => {
      for (const batch of inBatches([...targets])) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key of LINES
        await Promise.all(batch.map(([name, target]) => testOne(name, TESTS[id as LineId], target)));
      }
    });
  }
}

async function testOne(name: string, run: LineTest, target: PlatformTarget): Promise<void> {
  try {
    await run(target);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

// Contract 3 against the sandbox's platform: the same tests as against the fake, over a server that stores on disk; and
// once more with many ways to be silent where the contract is. The fake has other ones.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { PlatformTarget } from '../../../support/platform/contract/target.ts';
import { registerPlatformContract } from '../../../support/platform/contract/suite.ts';
import { platformQuirksOf } from '../../../support/platform/quirks.ts';
import { rounds } from '../../../support/runner/ci.ts';
import { PlatformLab } from '../../../support/sandbox/platform-lab.ts';
import { quirkyTarget } from '../../../support/sandbox/quirky-platform.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';

const SETS = rounds(40, 80);
/** Behind those of the fake. */
const FIRST_SEED = 200;

let lab: PlatformLab;
beforeAll(async () => {
  lab = await PlatformLab.start();
});
afterAll(async () => {
  await lab.stop();
});

describe('the sandbox', () => {
  registerPlatformContract(async () => {
    const target = { ...lab.platform, apiKey: lab.key, clock: systemClock, stop: async () => {} };
    return new Map([['the sandbox', target]]);
  });
});

describe(`the sandbox with ${SETS} sets of quirks`, () => {
  registerPlatformContract(async () => {
    const targets = new Map<string, PlatformTarget>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SETS; seed += 1) {
      const quirks = platformQuirksOf(seed);
      const apiKeyFile = join(lab.directory, `key-of-seed-${seed}`);
      await writeFile(apiKeyFile, `${quirks.apiKey}\n`);
      targets.set(`seed ${seed}`, await quirkyTarget(lab, quirks, apiKeyFile));
    }
    return targets;
  });
});

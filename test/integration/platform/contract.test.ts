// Contract 3 against a strict fake, with many ways to be silent where the contract is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { registerPlatformContract } from '../../support/platform/contract/suite.ts';
import type { PlatformTarget } from '../../support/platform/contract/target.ts';
import { startFakePlatform } from '../../support/platform/fake-platform.ts';
import { PLAIN_PLATFORM, platformQuirksOf } from '../../support/platform/quirks.ts';
import type { PlatformQuirks } from '../../support/platform/quirks.ts';
import { rounds } from '../../support/runner/ci.ts';
import { EagerClock } from '../../support/waiting/eager-clock.ts';

const PLATFORMS = rounds(40, 80);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-contract-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fake(quirks: PlatformQuirks, name: string): Promise<PlatformTarget> {
  const platform = await startFakePlatform(quirks);
  const { authHeader, apiKey, betaHeader, skillsField, fileField, messagePath } = quirks;
  const apiKeyFile = join(folder, name);
  await writeFile(apiKeyFile, `${apiKey}\n`);
  return {
    url: platform.url,
    authHeader,
    apiKey,
    apiKeyFile,
    betaHeader,
    skillsField,
    fileField,
    messageCheck: `${platform.url}${messagePath}`,
    clock: new EagerClock(),
    stop: async () => {
      await platform.stop();
      expect(platform.violations).toEqual([]);
    },
  };
}

describe('a plain platform', () => {
  registerPlatformContract(async () => new Map([['plain', await fake(PLAIN_PLATFORM, 'plain')]]));
});

describe(`${PLATFORMS} platforms with quirks`, () => {
  registerPlatformContract(async () => {
    const targets = new Map<string, PlatformTarget>();
    for (let seed = 0; seed < PLATFORMS; seed += 1) {
      targets.set(`seed ${seed}`, await fake(platformQuirksOf(seed), `seed-${seed}`));
    }
    return targets;
  });
});

// Contract 2 against strict fakes, with many ways to be silent where the contract is.
import { describe } from 'vitest';
import { EagerClock } from '../../support/waiting/eager-clock.ts';
import { registerBranchContract } from '../../support/branches/contract/suite.ts';
import type { ContractTarget } from '../../support/branches/contract/target.ts';
import { startFakeConsole } from '../../support/branches/fake-console.ts';
import { startFakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import { PLAIN, quirksOf } from '../../support/branches/quirks.ts';
import type { Quirks } from '../../support/branches/quirks.ts';
import { rounds } from '../../support/runner/ci.ts';

const SERVERS = rounds(40, 80);

async function fakes(quirks: Quirks): Promise<ContractTarget> {
  const [node, consoleApi] = await Promise.all([startFakeStorageNode(quirks), startFakeConsole(quirks)]);
  return {
    storageUrl: node.url,
    tenant: node.tenant,
    pgVersion: 17,
    consoleUrl: consoleApi.url,
    project: consoleApi.project,
    apiKey: consoleApi.apiKey,
    clock: new EagerClock(),
    stop: async () => void (await Promise.all([node.stop(), consoleApi.stop()])),
  };
}

describe('a plain server', () => {
  registerBranchContract(async () => new Map([['plain', await fakes(PLAIN)]]));
});

describe(`${SERVERS} servers with quirks`, () => {
  registerBranchContract(async () => {
    const targets = new Map<string, ContractTarget>();
    for (let seed = 0; seed < SERVERS; seed += 1) targets.set(`seed ${seed}`, await fakes(quirksOf(seed)));
    return targets;
  });
});

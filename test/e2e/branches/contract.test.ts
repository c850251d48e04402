// Contract 2 against the sandbox: the same tests as against the fakes, over real PostgreSQL.
import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { startKeptSandbox } from '../../support/sandbox/kept-cluster.ts';
import { registerBranchContract } from '../../support/branches/contract/suite.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';

describe('the sandbox', () => {
  registerBranchContract(async () => {
    const sandbox = await startKeptSandbox({ branches: true });
    const { storageUrl, consoleUrl, tenant, project, apiKeyFile, pgMajor } =
      sandbox.branches ?? expect.fail('the sandbox has no branches');
    const target = {
      storageUrl,
      tenant,
      pgVersion: pgMajor,
      consoleUrl,
      project,
      apiKey: (await readFile(apiKeyFile, 'utf8')).trim(),
      clock: systemClock,
      stop: () => sandbox.stop(),
    };
    return new Map([['the sandbox', target]]);
  });
});

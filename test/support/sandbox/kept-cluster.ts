// The sandboxes of the tests begin as copies of one database cluster for each PostgreSQL: initdb costs as much
// processor time as all else at the start of a sandbox. They share its system identifier, so a test of two clusters
// lets initdb make one of them.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTree } from '../../../src/sandbox/postgres/copy-tree.ts';
import { give } from '../../../src/sandbox/postgres/run-as.ts';
import { initdb, type Initialize } from '../../../src/sandbox/postgres/template.ts';
import { startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { kept } from '../runner/kept.ts';
import { SUPERUSER_PASSWORD } from '../values/canaries.ts';

/** The file with the arguments of initdb. */
const HOW = new URL('../../../src/sandbox/postgres/template.ts', import.meta.url);

export const fromKept: Initialize = async (bin, runAs, target) => {
  const from = await Promise.all([bin.postgres, HOW].map((file) => readFile(file)));
  const source = await kept('database', from, async (directory) => {
    const work = await mkdtemp(join(tmpdir(), 'pointsman-initdb-'));
    await give(work, runAs.user);
    try {
      await initdb(bin, { ...runAs, directory: work }, join(work, 'data'), SUPERUSER_PASSWORD);
      await copyTree(join(work, 'data'), join(directory, 'data'), { owner: undefined });
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
  await copyTree(join(source, 'data'), target, { owner: runAs.user });
  return SUPERUSER_PASSWORD;
};

/** A sandbox for tests of other things than its start. */
export function startKeptSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  return startSandbox({ initialize: fromKept, ...options });
}

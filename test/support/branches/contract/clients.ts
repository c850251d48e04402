// Pointsman's own clients of a server under the suite, as a command or the directory uses them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConsoleClient } from '../../../../src/branches/api/console-client.ts';
import type { ConsoleClient } from '../../../../src/branches/api/console-client.ts';
import { createStorageClient } from '../../../../src/branches/api/storage-client.ts';
import type { StorageClient } from '../../../../src/branches/api/storage-client.ts';
import { createBranchControl } from '../../../../src/branching/control-branches.ts';
import type { BranchControl } from '../../../../src/branching/control-branches.ts';
import type { ContractTarget } from './target.ts';

export interface Clients {
  readonly storage: StorageClient;
  readonly console: ConsoleClient;
  readonly storageControl: BranchControl;
  readonly consoleControl: BranchControl;
}

/** Creations wait as long as it takes. */
const TIMEOUT_MS = 60_000;

export async function withClients<T>(on: ContractTarget, run: (clients: Clients) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-contract-'));
  try {
    const apiKeyFile = join(folder, 'key');
    const headersFile = join(folder, 'headers');
    await writeFile(apiKeyFile, on.apiKey);
    await writeFile(headersFile, 'x-gateway: token\n');
    const access = { url: on.consoleUrl, project: on.project, apiKeyFile };
    const node = { url: on.storageUrl, tenant: on.tenant, headersFile };
    const parts = { clock: on.clock, random: () => 0 };
    const namesFile = join(folder, 'names.json');
    return await run({
      storage: createStorageClient(node, { timeoutMs: TIMEOUT_MS }),
      console: createConsoleClient(access, { timeoutMs: TIMEOUT_MS }),
      storageControl: createBranchControl({ kind: 'storage', ...node, namesFile, pgVersion: on.pgVersion }, parts),
      consoleControl: createBranchControl({ kind: 'console', ...access }, parts),
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

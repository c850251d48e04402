// The guard: a process that outlives a killed sandbox and removes the processes and files that it left. It holds the
// other end of a pipe: when the pipe ends without the agreed word, the sandbox has died. It ignores the signals of the
// terminal, which are for the sandbox.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process, { argv, stdin } from 'node:process';
import { CLEAN_END } from './guard.ts';
import { clearAfterDeath, readPostmasterFile } from './postmaster-file.ts';
import { killAll, killTree } from './process-tree.ts';
import { commandLine, postgresProcessesIn } from './processes.ts';

const ATTEMPTS = 10;
const [, , directory] = argv;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let said = '';
stdin.setEncoding('utf8');
stdin.on('data', (text: string) => (said += text));
stdin.once('close', () => {
  if (directory !== undefined && !said.includes(CLEAN_END)) void clear(directory);
  else process.exit();
});

async function clear(directory: string): Promise<void> {
  for (const member of await readdir(directory).catch(() => [])) await endServer(join(directory, member, 'data'));
  await killAll(await postgresProcessesIn(directory)).catch(() => {});
  // initdb may still be running, and takes a moment to end.
  await rm(directory, { recursive: true, force: true, maxRetries: ATTEMPTS, retryDelay: 200 }).catch(() => {});
  process.exit();
}

async function endServer(dataDirectory: string): Promise<void> {
  const file = await readPostmasterFile(dataDirectory);
  if (file === undefined) return;
  // Another process may have this number by now.
  const isItself = (await commandLine(file.pid)).includes(`-D ${dataDirectory} `);
  const orphans = await postgresProcessesIn(dataDirectory);
  await (isItself ? killTree(file.pid, orphans) : killAll(orphans)).catch(() => {});
  await clearAfterDeath(dataDirectory);
}

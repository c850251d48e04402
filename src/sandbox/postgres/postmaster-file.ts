// The file postmaster.pid of a running or killed server (src/include/utils/pidfile.h), and the System V shared memory
// segment that it names. That segment outlives a killed postmaster.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run-as.ts';

export interface PostmasterFile {
  readonly pid: number;
  readonly dataDirectory: string;
  readonly sharedMemoryId: number | undefined;
  /** It accepts connections: a primary, or a standby that has reached a consistent state. */
  readonly isReady: boolean;
}

/** Undefined when the file is absent or not completely written. */
export async function readPostmasterFile(dataDirectory: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  return parsePostmasterFile(text);
}

export function parsePostmasterFile(text: string): PostmasterFile | undefined {
  const [pid, dataDirectory = '', , , , , memory = '', status = ''] = text.split('\n').map((line) => line.trim());
  if (!(Number(pid) > 0)) return undefined;
  const id = /^\d+\s+(\d+)$/.exec(memory)?.[1];
  return {
    pid: Number(pid),
    dataDirectory,
    sharedMemoryId: id === undefined ? undefined : Number(id),
    isReady: status === 'ready',
  };
}

/** Only after every process of that server has ended. Does nothing when the server removed them itself. */
export async function clearAfterDeath(dataDirectory: string): Promise<void> {
  const left = await readPostmasterFile(dataDirectory);
  if (left?.sharedMemoryId !== undefined) {
    // Best effort: the next server in this directory takes the segment over.
    await run({ user: undefined, directory: '/' }, 'ipcrm', ['-m', String(left.sharedMemoryId)]);
  }
  await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
}

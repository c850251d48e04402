// The names file in the hands of the one process that holds its lock.
import { readNames } from '../branches/names-file.ts';
import type { NamedTimeline } from '../branches/names-file.ts';
import { tryLock } from './names-lock.ts';
import type { Attempts } from './attempts.ts';
import { writeNames } from './write-names.ts';

export interface TimelineNames {
  find(name: string): NamedTimeline | undefined;
  /** Unfinished ones too. */
  all(): readonly NamedTimeline[];
  /** Replaces the entry of that name. Resolves when it is on the disk. */
  save(entry: NamedTimeline): Promise<void>;
  /** By the timeline's id. */
  drop(id: string): Promise<void>;
}

/**
 * Runs `work` while this process alone may change the file. Undefined: another process had the lock until the deadline.
 * Rejects with an ApiError when the file cannot be used.
 */
export async function withNames<T>(
  { namesFile, tenant }: { readonly namesFile: string; readonly tenant: string },
  attempts: Attempts,
  work: (names: TimelineNames) => Promise<T>,
): Promise<T | undefined> {
  let unlock = await tryLock(namesFile);
  while (unlock === undefined) {
    if (!(await attempts.again(`another command changes ${namesFile}`))) return undefined;
    unlock = await tryLock(namesFile);
  }
  attempts.restart();
  try {
    let entries = await readNames(namesFile, tenant);
    const write = async (next: readonly NamedTimeline[]): Promise<void> => {
      await writeNames(namesFile, tenant, next);
      entries = next;
    };
    return await work({
      find: (wanted) => entries.find(({ name }) => name === wanted),
      all: () => entries,
      save: (entry) => write([...entries.filter(({ name }) => name !== entry.name), entry]),
      drop: (unwanted) => write(entries.filter(({ id }) => !isSameId(id, unwanted))),
    });
  } finally {
    unlock();
  }
}

/** Hex digits: servers differ in their case. */
export function isSameId(a: string | undefined, b: string | undefined): boolean {
  return a?.toLowerCase() === b?.toLowerCase();
}

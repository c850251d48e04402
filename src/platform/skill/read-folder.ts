// The files of a folder, for a skill. Links are named and not followed.
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unreadable } from '../../config/files/unusable-files.ts';
import { checkFolder, SKILL_FILE } from './skill-folder.ts';
import type { CheckedFolder, FolderEntry } from './skill-folder.ts';

/** The interface shows no limit for a skill. These stop a folder that was named by mistake. */
const MOST_FILES = 500;
const MOST_BYTES = 30_000_000;

export type ReadFolder = CheckedFolder | { readonly kind: 'unreadable'; readonly why: string };

export async function readSkill(directory: string): Promise<ReadFolder> {
  try {
    const top = await realpath(directory);
    const found = await lstat(top);
    if (!found.isDirectory()) {
      const hint = basename(top) === SKILL_FILE ? ': name the folder that it is in' : '';
      return { kind: 'unreadable', why: `${directory} is no folder${hint}` };
    }
    const entries = await entriesOf(top);
    if (typeof entries === 'string') return { kind: 'unreadable', why: `${directory} ${entries}` };
    return checkFolder(basename(top), entries);
  } catch (error) {
    return { kind: 'unreadable', why: `${directory} ${unreadable(error)}` };
  }
}

/** A text says why the folder is not read to its end: it is too big for a skill. */
async function entriesOf(top: string): Promise<readonly FolderEntry[] | string> {
  const found = await readdir(top, { recursive: true, withFileTypes: true });
  const inside = found.filter((entry) => !entry.isDirectory());
  if (inside.length > MOST_FILES) return `has ${inside.length} files: a skill has at most ${MOST_FILES}`;
  const entries: FolderEntry[] = [];
  let bytes = 0;
  for (const entry of inside) {
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(top.length + 1).replaceAll('\\', '/');
    const kind = entry.isSymbolicLink() ? 'link' : entry.isFile() ? 'file' : 'other';
    bytes += kind === 'file' ? (await lstat(file)).size : 0;
    if (bytes > MOST_BYTES) return `has more than ${MOST_BYTES} bytes: too much for a skill`;
    entries.push({ path, kind, content: kind === 'file' ? await readFile(file) : new Uint8Array() });
  }
  return entries;
}

// The WAL of one branch on disk: finished files in its archive, the file in progress at its server, and the files of
// its parent for the timelines before its own.
import { copyFile, link, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { give, type ServerUser } from '../postgres/run-as.ts';
import { writeOwned } from '../postgres/template.ts';
import { SEGMENT_BYTES, firstSegment, historyFile, lastSegment, parseHistory, segmentFile } from './wal-files.ts';
import { timelineOfSegment, type Lineage } from './wal-files.ts';
import { errorCode } from '../../model/errno.ts';

export interface WalSource {
  /** Directories, to be searched in this order. */
  directories(): readonly string[];
  /** The timelines up to this one are the parent's. Undefined: of the root. */
  readonly inherited: { readonly from: WalSource; readonly upTo: number } | undefined;
}

/** The lineage of a timeline that this branch has or had. Rejects when its history is missing. */
export async function readLineage(source: WalSource, timeline: number): Promise<Lineage> {
  if (timeline === 1) return { timeline, ended: [] };
  const text = await historyOf(source, timeline);
  if (text === undefined) throw new Error(`the history of timeline ${timeline} is missing`);
  return { timeline, ended: parseHistory(text) };
}

export interface WalRange {
  readonly lineage: Lineage;
  readonly from: number;
  /** The WAL ends here: what the files have beyond is not given. */
  readonly to: number;
}

/** Makes `target` the pg_wal of a server that recovers this range. Rejects when a file is missing. */
export async function giveWal(
  source: WalSource,
  { lineage, from, to }: WalRange,
  target: string,
  owner: ServerUser | undefined,
): Promise<void> {
  const last = lastSegment(to);
  for (let segment = firstSegment(from); segment <= last; segment += 1) {
    const timeline = timelineOfSegment(lineage, segment);
    const file = segmentFile(timeline, segment);
    const end = to - last * SEGMENT_BYTES;
    const given = await firstOf(source, timeline, async (directory) => {
      if (segment < last) await linkOrCopy(join(directory, file), join(target, file));
      else await copyBeginning(join(directory, file), join(target, file), end);
      return true;
    });
    if (given === undefined) throw new Error(`the WAL file ${file} is missing`);
    await give(join(target, file), owner);
  }
  for (const { timeline } of [...lineage.ended.slice(1), lineage]) {
    if (timeline === 1) continue;
    const text = await historyOf(source, timeline);
    if (text !== undefined) await writeOwned(join(target, historyFile(timeline)), text, { user: owner });
  }
}

function historyOf(source: WalSource, timeline: number): Promise<string | undefined> {
  return firstOf(source, timeline, (directory) => readFile(join(directory, historyFile(timeline)), 'utf8'));
}

/** The first directory where `attempt` finds its file. */
async function firstOf<T>(
  source: WalSource,
  timeline: number,
  attempt: (directory: string) => Promise<T>,
): Promise<T | undefined> {
  const { inherited } = source;
  if (inherited !== undefined && timeline <= inherited.upTo) return firstOf(inherited.from, timeline, attempt);
  // A server may move a file from the last directory to the first one between the two looks.
  const directories = source.directories();
  for (const directory of [...directories, ...directories]) {
    try {
      return await attempt(directory);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    // The kernel may refuse links to files of another user.
    if (errorCode(error) !== 'EPERM') throw error;
    await copyFile(source, target);
  }
}

/** The rest of the file is empty, which ends recovery. */
async function copyBeginning(source: string, target: string, bytes: number): Promise<void> {
  const content = Buffer.alloc(bytes);
  const from = await open(source);
  try {
    const { bytesRead } = await from.read(content, 0, bytes, 0);
    if (bytesRead < bytes) throw new Error(`${source} is too short`);
  } finally {
    await from.close();
  }
  const to = await open(target, 'w', 0o600);
  try {
    await to.write(content);
    await to.truncate(SEGMENT_BYTES);
  } finally {
    await to.close();
  }
}

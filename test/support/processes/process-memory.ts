// The whole memory of another process, as the kernel shows it: also what V8 has freed and nobody has overwritten.
import { open, readFile } from 'node:fs/promises';

/** A process of the same user, or of a child of this one. */
export const hasProcessMemory = process.platform === 'linux';

/** More would be a reservation of V8, of which hardly a page is used. */
const LONGEST_REGION = 2 ** 30;
const PART = 2 ** 24;

/** For each text, how often it is in memory that the process can write to. */
export async function countInMemory(pid: number, texts: readonly Buffer[]): Promise<readonly number[]> {
  const counts = texts.map(() => 0);
  const overlap = Math.max(...texts.map(({ length }) => length)) - 1;
  const memory = await open(`/proc/${pid}/mem`, 'r');
  try {
    for (const [from, to] of await regionsOf(pid)) {
      for (let at = from; at < to; at += PART) {
        const part = Buffer.alloc(Math.min(PART + overlap, to - at));
        // A region may be gone by now.
        const bytesRead = await memory.read(part, 0, part.length, at).then(
          (result) => result.bytesRead,
          () => 0,
        );
        const seen = part.subarray(0, bytesRead);
        for (const [index, text] of texts.entries()) counts[index] = (counts[index] ?? 0) + countIn(seen, text);
      }
    }
  } finally {
    await memory.close();
  }
  return counts;
}

async function regionsOf(pid: number): Promise<readonly (readonly [number, number])[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  return [...maps.matchAll(/^([\da-f]+)-([\da-f]+) rw/gm)]
    .map(([, from = '', to = '']) => [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const)
    .filter(([from, to]) => to - from < LONGEST_REGION);
}

function countIn(bytes: Buffer, text: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) count += 1;
  return count;
}

// Changes of an input: bytes and words, parts of other inputs, and the numbers that readers get wrong.
import type { Chance } from './target.ts';

export interface MutationSources {
  readonly words: readonly Uint8Array[];
  readonly others: readonly Uint8Array[];
  /** Bytes. */
  readonly longest: number;
}

const ODD_BYTES = [0, 1, 0x20, 0x7f, 0x80, 0xff] as const;
const ODD_NUMBERS = [0, 1, 3, 4, 5, 0xff, 0x7fff, 0xffff, 0x3fff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] as const;

/** One to six changes. */
export function mutated(input: Uint8Array, chance: Chance, sources: MutationSources): Uint8Array {
  let bytes: Buffer = Buffer.from(input);
  for (let left = 1 + chance.below(chance.pick([1, 2, 6])); left > 0; left -= 1)
    bytes = changed(bytes, chance, sources);
  return bytes.subarray(0, sources.longest);
}

function changed(bytes: Buffer, chance: Chance, { words, others, longest }: MutationSources): Buffer {
  const at = chance.below(bytes.length + 1);
  const size = Math.min(bytes.length - at, chance.below(chance.pick([2, 5, 30, bytes.length + 1])));
  const replaced = (part: Uint8Array, removed = size): Buffer =>
    Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + removed)]);
  const from = (list: readonly Uint8Array[]): Uint8Array => list[chance.below(list.length)] ?? bytes;
  switch (chance.below(10)) {
    case 0:
      return replaced(Uint8Array.of(chance.below(256)), Math.min(1, size));
    case 1:
      return replaced(Uint8Array.of(chance.pick(ODD_BYTES)), chance.below(2));
    case 2:
      return replaced(Uint8Array.of((bytes[at] ?? 0) ^ (1 << chance.below(8))), 1);
    case 3:
      return replaced(new Uint8Array(0));
    case 4:
      return replaced(numberIn(chance), chance.below(5));
    case 5:
      return replaced(repeated(bytes.subarray(at, at + size), chance.pick([2, 4, 40, longest]), longest), 0);
    case 6:
    case 7:
      return replaced(from(words), chance.pick([0, size]));
    case 8: {
      const other = from(others);
      const begin = chance.below(other.length + 1);
      return replaced(other.subarray(begin, begin + chance.below(other.length - begin + 1)), chance.pick([0, size]));
    }
    default:
      return replaced(bytes.subarray(chance.below(bytes.length + 1)).subarray(0, size));
  }
}

function numberIn(chance: Chance): Uint8Array {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(chance.pick([...ODD_NUMBERS, chance.below(1_000)]));
  return number.subarray(chance.pick([0, 2]));
}

function repeated(part: Uint8Array, count: number, longest: number): Buffer {
  return Buffer.alloc(Math.min(longest, part.length * count), part.length === 0 ? 0 : part);
}

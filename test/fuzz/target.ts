// A reader of bytes that strangers write, and what must hold for it whatever they write.
export interface FuzzTarget {
  readonly name: string;
  /** Files under `src/`, by the beginning of their path: coverage of these guides the search. */
  readonly covers: readonly string[];
  /** Inputs to begin with. The corpus of the target adds those that found something. */
  readonly seeds: readonly Uint8Array[];
  /** Texts that a mutation may write into an input. */
  readonly words: readonly string[];
  /** Throws when something does not hold. The same input gives the same result. */
  readonly check: (input: Uint8Array) => void | Promise<void>;
  /** Default: 4 kB. A mutation makes nothing longer. */
  readonly longest?: number;
  /** Default: 1. An input takes so many times as long as those of others. */
  readonly costs?: number;
}

/** Reads values off an input. Behind its end they are zero and empty. */
export class Feed {
  #rest: Buffer;

  constructor(input: Uint8Array) {
    this.#rest = Buffer.from(input.buffer, input.byteOffset, input.length);
  }

  isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  byte(): number {
    return this.bytes(1)[0] ?? 0;
  }

  bytes(size: number): Buffer {
    const taken = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(size);
    return taken;
  }

  /** Up to 65,535 of them. */
  block(): Buffer {
    return this.bytes((this.byte() << 8) | this.byte());
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.byte() % list.length] ?? list[0];
  }

  rest(): Buffer {
    return this.bytes(this.#rest.length);
  }
}

/** Numbers from a seed: the same ones each time (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }
}

/** FNV-1a. */
export function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** The bytes in pieces that follow from the bytes: each a copy, as the chunks of a socket are. */
export function piecesOf(bytes: Uint8Array, most = 40): readonly Uint8Array[] {
  const chance = new Chance(hashOf(bytes));
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + chance.below(pieces.length < most ? chance.pick([1, 4, 20, bytes.length]) : bytes.length);
    pieces.push(new Uint8Array(bytes.subarray(at, at + size)));
    at += size;
  }
  return pieces;
}

/** For inputs that are texts. */
export const textOf = (input: Uint8Array): string => Buffer.from(input).toString();

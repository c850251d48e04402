// Chance from a seed: the only chance in a simulation.

export interface Random {
  /** A number in [0, 1). */
  readonly next: () => number;
  /** A whole number in [0, below). */
  readonly int: (below: number) => number;
  /** In [from, to). */
  readonly between: (from: number, to: number) => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly chance: (probability: number) => boolean;
  /** Another sequence, which only depends on this seed and the name. Its use does not disturb this one. */
  readonly fork: (name: string) => Random;
}

/** Four words of state, by the small fast counting generator of PractRand (sfc32). */
export function seededRandom(seed: number | string): Random {
  const text = String(seed);
  let [a, b, c, count] = [0, hash(text, 0x811c9dc5), hash(text, 0x01234567), hash(text, 0x89abcdef)];
  const step = (): number => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let rounds = 0; rounds < 15; rounds += 1) step();
  const next = (): number => step() / 2 ** 32;
  const int = (below: number): number => Math.floor(next() * below);
  return {
    next,
    int,
    between: (from, to) => from + next() * (to - from),
    pick: (items) => {
      const item = items[int(items.length)];
      if (item === undefined) throw new Error('There is nothing to pick from.');
      return item;
    },
    chance: (probability) => next() < probability,
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
}

/** FNV-1a. */
function hash(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash | 0;
}

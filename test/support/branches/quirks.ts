// A seed chooses everything that contract 2 leaves open: a client that works with many seeds relies on the contract
// alone.

/** A number below 1 at each call; the same ones for the same seed. */
export type Random = () => number;

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type FreeBody = 'empty' | 'html' | 'text' | 'json_error' | 'json_array' | 'null';

export interface Quirks {
  readonly random: Random;
  /** Fields that the contract does not name, in every record. */
  readonly hasExtraFields: boolean;
  readonly order: 'as_created' | 'reversed' | 'shuffled';
  /** How a record shows that it has no parent. */
  readonly noParent: 'absent' | 'null';
  /** Whether a root timeline has an `ancestor_lsn` all the same, as `0/0`. */
  readonly hasRootLsn: boolean;
  readonly contentType: string | undefined;
  readonly isChunked: boolean;
  readonly isPretty: boolean;
  readonly hasByteOrderMark: boolean;
  /** The body of answers where the contract does not show it. */
  readonly freeBody: FreeBody;
  /** The parent takes writes: its position moves with each request. */
  readonly isParentAdvancing: boolean;
  /** Answers to the first requests for a new timeline or branch, which is visible and does not last yet. */
  readonly whileCreating: readonly number[];
  /** Whether a new timeline or branch shows in the list while it is being created. */
  readonly isVisibleEarly: boolean;
  /** The creations, counted from 0, whose answer gets lost: after the server acted, or before. */
  readonly lostAfter: ReadonlySet<number>;
  readonly lostBefore: ReadonlySet<number>;
  readonly childrenCode: number;
  readonly deletedCode: number;
  /** Console: the code of a creation, and the lists after it that do not show it yet. */
  readonly createdCode: number;
  readonly listsUntilShown: number;
  /** Console: the list has the servers of each branch, in a field that the contract does not name. */
  readonly hasEndpoints: boolean;
}

/** A server that does what the contract says and nothing odd. */
export const PLAIN: Quirks = {
  random: randomFrom(0),
  hasExtraFields: false,
  order: 'as_created',
  noParent: 'null',
  hasRootLsn: false,
  contentType: 'application/json',
  isChunked: false,
  isPretty: false,
  hasByteOrderMark: false,
  freeBody: 'empty',
  isParentAdvancing: false,
  whileCreating: [],
  isVisibleEarly: true,
  lostAfter: new Set(),
  lostBefore: new Set(),
  childrenCode: 412,
  deletedCode: 200,
  createdCode: 201,
  listsUntilShown: 0,
  hasEndpoints: false,
};

export function quirksOf(seed: number): Quirks {
  const random = randomFrom(seed);
  const coin = (chance = 0.5): boolean => random() < chance;
  const some = (most: number): readonly number[] => Array.from({ length: Math.floor(random() * (most + 1)) }, random);
  const one = <T>(...choices: readonly [T, ...T[]]): T => choices[Math.floor(random() * choices.length)] ?? choices[0];
  return {
    random,
    hasExtraFields: coin(),
    order: one('as_created', 'reversed', 'shuffled'),
    noParent: one('absent', 'null'),
    hasRootLsn: coin(),
    contentType: one('application/json', 'application/json; charset=utf-8', 'text/plain', undefined),
    isChunked: coin(),
    isPretty: coin(),
    hasByteOrderMark: coin(0.1),
    freeBody: one<FreeBody>('empty', 'html', 'text', 'json_error', 'json_array', 'null'),
    isParentAdvancing: coin(),
    whileCreating: some(3).map(() => one(409, 409, 429, 500, 502, 503, 504)),
    isVisibleEarly: coin(),
    lostAfter: new Set(coin(0.4) ? [Math.floor(random() * 3)] : []),
    lostBefore: new Set(coin(0.3) ? [Math.floor(random() * 3)] : []),
    childrenCode: one(400, 403, 404, 405, 409, 412, 422, 500),
    deletedCode: one(200, 202, 204),
    createdCode: one(200, 201, 202),
    listsUntilShown: Math.floor(random() * 3),
    hasEndpoints: coin(),
  };
}

/** In the order of the list. */
export function ordered<T>(entries: readonly T[], { order, random }: Quirks): readonly T[] {
  if (order === 'reversed') return entries.toReversed();
  if (order === 'as_created') return entries;
  return entries
    .map((entry) => ({ entry, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
}

/** Fields with values of every kind, and names that come close to those of the contract. */
export function extraFields({ hasExtraFields, random }: Quirks): Record<string, unknown> {
  if (!hasExtraFields) return {};
  const all: readonly (readonly [string, unknown])[] = [
    ['tenant_id', 'ffffffffffffffffffffffffffffffff'],
    ['timeline', 7],
    ['parent', null],
    ['state', { slug: 'Active', since: [1, 2] }],
    ['current_state', 'init'],
    ['last_record_lsn_lag', 0],
    ['created_at', '2026-11-22T10:00:00Z'],
    ['tags', []],
    ['ID', 'not-the-id'],
    ['Name', 'not-the-name'],
  ];
  return Object.fromEntries(all.filter(() => random() < 0.6));
}

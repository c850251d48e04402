// A seed chooses everything that contract 3 leaves open: a client that works with many seeds relies on the contract
// alone.
import { PLAIN, quirksOf, randomFrom } from '../branches/quirks.ts';
import type { Quirks, Random } from '../branches/quirks.ts';
import { PLATFORM_KEY } from '../values/canaries.ts';

/** Where the id of a record is. `decoy`: `id` is there as well, and is another id. */
type IdAt = 'named' | 'id' | 'both' | 'decoy';

export interface PlatformQuirks extends Quirks {
  readonly betaHeader: string;
  readonly authHeader: string;
  /** The value of the header. */
  readonly apiKey: string;
  readonly skillsField: string;
  readonly fileField: string;
  readonly messagePath: string;
  readonly idAt: IdAt;
  /** The field around a record. */
  readonly envelope: 'none' | 'named' | 'data';
  /** The field of a list. `bare`: the answer is the array. */
  readonly listAt: 'bare' | 'data' | 'named' | 'results';
  readonly hasPageFields: boolean;
  /** The answer of a creation has the id and the version alone. */
  readonly isCreationShort: boolean;
  readonly epochUnit: 1 | 1000 | 1_000_000;
  /** Before the name of a version of the general dialect. */
  readonly versionPrefix: string;
  readonly refusedCode: number;
  readonly isFileEmpty: boolean;
  /** Answers to reads before the true one: at most two, because a client tries three times. */
  readonly beforeReads: readonly number[];
}

export const PLAIN_PLATFORM: PlatformQuirks = {
  ...PLAIN,
  betaHeader: 'vendor-beta',
  authHeader: 'x-api-key',
  apiKey: PLATFORM_KEY,
  skillsField: 'files[]',
  fileField: 'file',
  messagePath: '/message-check',
  idAt: 'named',
  envelope: 'none',
  listAt: 'data',
  hasPageFields: true,
  isCreationShort: false,
  epochUnit: 1_000_000,
  versionPrefix: 'skillver_',
  refusedCode: 400,
  isFileEmpty: false,
  beforeReads: [],
};

export function platformQuirksOf(seed: number): PlatformQuirks {
  const random: Random = randomFrom(seed + 1_000_000);
  const coin = (chance = 0.5): boolean => random() < chance;
  const one = <T>(...choices: readonly [T, ...T[]]): T => choices[Math.floor(random() * choices.length)] ?? choices[0];
  const authHeader = one('x-api-key', 'authorization', 'X-Platform-Key');
  const key = `${PLATFORM_KEY}-${seed}`;
  return {
    ...quirksOf(seed),
    betaHeader: one('vendor-beta', 'X-Vendor-Features'),
    authHeader,
    apiKey: authHeader === 'authorization' ? `Bearer ${key}` : key,
    skillsField: one('files[]', 'files', 'skill part'),
    fileField: one('file', 'upload'),
    messagePath: one('/message-check', '/v1/messages', '/v2/turns'),
    idAt: one<IdAt>('named', 'id', 'both', 'decoy'),
    envelope: one('none', 'named', 'data'),
    listAt: one('bare', 'data', 'named', 'results'),
    hasPageFields: coin(),
    isCreationShort: coin(),
    epochUnit: one(1, 1000, 1_000_000),
    versionPrefix: one('skillver_', '', 'v'),
    refusedCode: one(400, 403, 404, 405, 409, 413, 415, 422),
    isFileEmpty: coin(0.2),
    beforeReads: Array.from({ length: coin(0.2) ? 1 + Math.floor(2 * random()) : 0 }, () => one(429, 500, 502, 503)),
  };
}

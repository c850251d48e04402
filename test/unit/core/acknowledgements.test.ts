// Which bytes may acknowledge a write. The property says why none of the conditions may be left out.
import { expect, test } from 'vitest';
import {
  countBytes,
  isStillReached,
  mayHaveAcknowledged,
  type ForwardedBytes,
} from '../../../src/core/acknowledgements.ts';
import { primaryServer } from '../../../src/core/read-index.ts';
import type { AskedServer, PrimaryWord } from '../../../src/model/causal-reads.ts';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  answered,
  aPolicy,
  aSnapshot,
  isPrimary,
  isReplica,
  READ_CHECK,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const KNOWN = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isPrimary('pg-1', 100), isReplica('pg-2', 100)] as const;
const ELSEWHERE = { host: 'elsewhere', port: 5432 };

function server(member: string): AskedServer {
  return { member, address: { host: member, port: 5432 } };
}

function from(source: AskedServer | undefined, toClientBytes = 7): ForwardedBytes {
  return { server: source, toClientBytes };
}

/** `since`: the primary's yes must be younger. */
function counts(source: ForwardedBytes, news: readonly Observation[] = [], since = 0): boolean {
  const snapshot = aSnapshot(POLICY, ...KNOWN, ...news);
  const proven = primaryServer({ pools: POLICY.pools, snapshot, since });
  const may = mayHaveAcknowledged(new Map(), [source], snapshot, proven);
  expect(countBytes([source], snapshot, proven).has(source)).toBe(may);
  return may;
}

const STANDBY = { state: 'running', scope: 'lab', name: 'pg-2', timeline: 1 } as const;

test.each<[string, boolean]>([
  ['of the primary count', counts(from(server('pg-1')))],
  ['of an unknown server count', counts(from(undefined))],
  ['of a member that has not said what it is count', counts(from(server('pg-3')))],
  ['of a server that is no member count', counts(from(server('pg-4')))],
  ['of a replica at another address count', counts(from({ member: 'pg-2', address: ELSEWHERE }))],
  ['of a replica on an older timeline count', counts(from(server('pg-2')), [isPrimary('pg-1', 200, { timeline: 2 })])],
  ['of a replica count while no primary is proven', counts(from(server('pg-2')), [], 100)],
  [
    'of the leader of a standby cluster count',
    counts(from(server('pg-2')), [
      answered({ member: 'pg-2', check: READ_CHECK, at: 200, body: { ...STANDBY, role: 'standby_leader' } }),
    ]),
  ],
  ['of a known replica do not', !counts(from(server('pg-2')))],
])('bytes %s', (_, isRight) => {
  expect(isRight).toBe(true);
});

test('bytes of the proven primary count, whatever else is known of it', () => {
  const proven = { ...server('pg-2'), timeline: 1 };
  expect(mayHaveAcknowledged(new Map(), [from(server('pg-2'))], aSnapshot(POLICY, ...KNOWN), proven)).toBe(true);
});

test('bytes that were counted before acknowledge nothing new', () => {
  const snapshot = aSnapshot(POLICY, ...KNOWN);
  const source = { server: server('pg-1'), toClientBytes: 0 };
  const may = (): boolean => mayHaveAcknowledged(counted, [source], snapshot, undefined);
  let counted = new Map<ForwardedBytes, number>();
  expect(may()).toBe(false);
  source.toClientBytes = 5;
  expect(may()).toBe(true);
  counted = new Map(countBytes([source], snapshot, undefined));
  expect(may()).toBe(false);
  source.toClientBytes = 6;
  expect(may()).toBe(true);
});

test('a kept word is of use until its connection ends, or WAL was lost', () => {
  const word: PrimaryWord = { ...server('pg-1'), question: 1, timeline: 1, written: 500, flushed: 500 };
  expect(isStillReached(word, word)).toBe(true);
  expect(isStillReached(word, { ...word, written: 501 })).toBe(true);
  expect(isStillReached(word, { ...word, written: 499 })).toBe(false);
  expect(isStillReached(word, undefined)).toBe(false);
});

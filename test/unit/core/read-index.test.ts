// Each fact without which a causal read may not run. The property says why: nothing less proves it.
import { describe, expect, test } from 'vitest';
import { judge, primaryServer, type ServerWords, type WaitingRead } from '../../../src/core/read-index.ts';
import type { AskedServer, PrimaryWord, ReplicaWord } from '../../../src/model/causal-reads.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { aList, aMember, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';

const POLICY = aPolicy();
const KNOWN = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 100), isReplica('pg-2', 100)] as const;
const ELSEWHERE = { host: 'elsewhere', port: 5432 };

function server(member: string): AskedServer {
  return { member, address: { host: member, port: 5432 } };
}

/** Everything that the read needs, in the last moment that is enough. */
const READ: WaitingRead = { server: server('pg-2'), connected: 5, arrived: 10 };
const PRIMARY: PrimaryWord = { ...server('pg-1'), question: 11, timeline: 1, written: 500, flushed: 500 };
const REPLICA: ReplicaWord = { ...server('pg-2'), question: 6, replayed: 500 };
const WORDS: ServerWords = { primary: PRIMARY, replica: REPLICA };

interface Facts {
  readonly read?: Partial<WaitingRead>;
  readonly words?: Partial<ServerWords>;
  readonly news?: readonly Observation[];
  readonly since?: number;
}

function verdict({ read, words, news = [], since = 99 }: Facts = {}): string {
  const snapshot = aSnapshot(POLICY, ...KNOWN, ...news);
  const proven = primaryServer({ pools: POLICY.pools, snapshot, since });
  const judged = judge(snapshot, proven, { ...READ, ...read }, { ...WORDS, ...words });
  return judged.kind === 'yes' ? 'yes' : judged.why;
}

describe('a read on a replica', () => {
  test('runs when the replica has replayed what the primary had written after the arrival', () => {
    expect(verdict()).toBe('yes');
    expect(verdict({ words: { replica: { ...REPLICA, replayed: 499 } } })).toBe('behind');
  });

  test.each<[string, Facts, string]>([
    ['no primary is proven', { since: 100 }, 'primary_unproven'],
    ['the primary has no word', { words: { primary: undefined } }, 'unasked'],
    ['the word is of another member', { words: { primary: { ...PRIMARY, member: 'pg-3' } } }, 'unasked'],
    [
      'the word is of another server of that name',
      { words: { primary: { ...PRIMARY, address: ELSEWHERE } } },
      'unasked',
    ],
    ['the word is of another timeline', { words: { primary: { ...PRIMARY, timeline: 2 } } }, 'unasked'],
    ['the primary was asked before the arrival', { words: { primary: { ...PRIMARY, question: 10 } } }, 'unasked'],
    ['the replica has no word', { words: { replica: undefined } }, 'unasked'],
    ['the word is of another replica', { words: { replica: { ...REPLICA, member: 'pg-3' } } }, 'unasked'],
    ['it is of the replica at another address', { words: { replica: { ...REPLICA, address: ELSEWHERE } } }, 'unasked'],
    ['the replica was asked before the session', { words: { replica: { ...REPLICA, question: 5 } } }, 'unasked'],
    [
      'the replica follows an older timeline',
      { news: [isPrimary('pg-1', 200, { timeline: 2 })], words: { primary: { ...PRIMARY, timeline: 2 } } },
      'timeline_unknown',
    ],
    ['its server is of no member', { read: { server: server('pg-3') } }, 'timeline_unknown'],
    [
      'the member is at another address now',
      { read: { server: { member: 'pg-2', address: ELSEWHERE } } },
      'timeline_unknown',
    ],
  ])('waits while %s', (_, facts, why) => {
    expect(verdict(facts)).toBe(why);
  });
});

describe('a read on the primary', () => {
  const onPrimary = { server: server('pg-1'), connected: 10, arrived: 20 };

  test('runs when the primary was asked after the session began', () => {
    expect(verdict({ read: onPrimary, words: { replica: undefined } })).toBe('yes');
    expect(verdict({ read: { ...onPrimary, connected: 11 } })).toBe('unasked');
    expect(verdict({ read: onPrimary, words: { primary: { ...PRIMARY, timeline: 2 } } })).toBe('unasked');
  });
});

test('a primary without an address of PostgreSQL is not asked', () => {
  const list = aList(0, aMember('pg-1', { postgres: undefined }));
  const snapshot = aSnapshot(POLICY, list, isPrimary('pg-1', 100));
  expect(primaryServer({ pools: POLICY.pools, snapshot, since: 99 })).toBeUndefined();
});

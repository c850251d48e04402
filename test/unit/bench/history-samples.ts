// Made-up histories for the judge of the consistency run. A server is `host:port`.
import type { Commit, Executed, History, Place, Write } from '../../bench/consistency/history.ts';
import { type Judgement, judge } from '../../bench/consistency/judge/judge.ts';

export const SUM = 10_000;
export const BOUNDS = { seenMs: 1900, hiddenMs: 15_000, agreedMs: 30_000 };
/** Servers. */
export const OLD = '127.0.0.11:5432';
export const NEXT = '127.0.0.12:5432';

export function written(client: number, n: number, more: Partial<Write> = {}): Write {
  const sentAtMs = client * 1000 + n * 10;
  const place = {
    client,
    n,
    server: OLD,
    timeline: 1,
    lsn: `0/${(0x1000 + n).toString(16).toUpperCase()}`,
    transaction: `${n}`,
  };
  return {
    client,
    n,
    kind: 'insert',
    sentAtMs,
    endedAtMs: sentAtMs + 5,
    outcome: 'acknowledged',
    place,
    words: undefined,
    ...more,
  };
}

export const executedAt = ({ client, n, sentAtMs, place }: Write): Executed => ({
  server: place?.server ?? OLD,
  atMs: sentAtMs + 2,
  client,
  n,
  timeline: place?.timeline ?? 1,
});

export const committedAt = (write: Write): Commit => ({
  ...executedAt(write),
  atMs: write.sentAtMs + 3,
  lsn: write.place?.lsn ?? '0/1000',
});

/** The place of write 2 of client 1. */
export const place = (more: Partial<Place>): Place => ({
  client: 1,
  n: 2,
  server: OLD,
  timeline: 1,
  lsn: '0/1002',
  transaction: '2',
  ...more,
});

/** Every write that may be there is there, once, and in the log of its server; unless told. */
export function historyOf(
  writes: readonly Write[],
  more: Partial<History> = {},
  ending: Partial<History['ending']> = {},
): History {
  const there = writes.filter(({ outcome }) => outcome === 'acknowledged');
  return {
    clients: [...new Set(writes.map(({ client }) => client))].map((id) => ({ id, application: 'a pool' })),
    writes,
    sights: [],
    executed: there.map(executedAt),
    commits: there.map(committedAt),
    promotions: [],
    claims: [],
    faults: [],
    ...more,
    ending: {
      stored: there.map(({ client, n, kind }) => ({ client, n, kind, copies: 1 })),
      sum: SUM,
      wrongBalances: 0,
      writers: new Map(),
      timeline: 1,
      forks: [],
      copies: new Map([
        ['pg-1', 'same'],
        ['pg-2', 'same'],
      ]),
      fates: new Map(),
      healedAtMs: 0,
      stoppedAtMs: 1_000_000,
      ...ending,
    },
  };
}

export function judged(history: History, isSynchronous = false): Judgement {
  return judge(history, { isSynchronous, sum: SUM, bounds: BOUNDS });
}

/** The names of the broken laws. */
export const broken = ({ laws }: Judgement): readonly string[] =>
  laws.filter(({ faults }) => faults > 0).map(({ name }) => name);

export const three = [written(1, 1), written(1, 2), written(2, 1)];
export const without = (writes: readonly Write[], gone: number) =>
  writes.toSpliced(gone, 1).map(({ client, n, kind }) => ({ client, n, kind, copies: 1 }));

// The judge of the consistency run can fail: histories without a fault pass, and it finds each known fault.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Executed, History, Promotion, Sight, Write } from '../../bench/consistency/history.ts';
import { type Judgement, judge } from '../../bench/consistency/judge/judge.ts';
import { position } from '../../bench/consistency/judge/positions.ts';

const SUM = 10_000;
const BOUNDS = { seenMs: 1900, hiddenMs: 15_000 };
const [OLD, NEXT] = ['127.0.0.11:5432', '127.0.0.12:5432'];

function written(client: number, n: number, more: Partial<Write> = {}): Write {
  const sentAtMs = client * 1000 + n * 10;
  const place = { server: OLD, timeline: 1, lsn: `0/${(0x1000 + n).toString(16).toUpperCase()}`, transaction: `${n}` };
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

const executedAt = ({ client, n, sentAtMs, place }: Write): Executed => ({
  server: place?.server ?? OLD,
  atMs: sentAtMs + 2,
  client,
  n,
  timeline: place?.timeline ?? 1,
});

/** Every write that may be there is there, once, and in the log of its server; unless told. */
function historyOf(
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
    promotions: [],
    faults: [],
    ...more,
    ending: {
      stored: there.map(({ client, n, kind }) => ({ client, n, kind, copies: 1 })),
      sum: SUM,
      wrongBalances: 0,
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

function judged(history: History, isSynchronous = false): Judgement {
  return judge(history, { isSynchronous, sum: SUM, bounds: BOUNDS });
}

const broken = ({ laws }: Judgement): readonly string[] =>
  laws.filter(({ faults }) => faults > 0).map(({ name }) => name);

const LOST = 'Nothing that was acknowledged is lost';
const LOST_BY_POINTSMAN = 'Nothing is lost by Pointsman';

const three = [written(1, 1), written(1, 2), written(2, 1)];
const without = (writes: readonly Write[], gone: number) =>
  writes.toSpliced(gone, 1).map(({ client, n, kind }) => ({ client, n, kind, copies: 1 }));

/** The history left timeline 1 at 0/1002: what was written from there on is lost by replication. */
const failedOver = { timeline: 2, forks: [{ timeline: 1, lsn: '0/1002' }] };

describe('a history without a fault', () => {
  test('is held, in both modes', () => {
    expect(broken(judged(historyOf(three)))).toEqual([]);
    expect(broken(judged(historyOf(three), true))).toEqual([]);
  });

  test('a write of unknown result may be there or not, and counts as recovered if it is', () => {
    const writes = [...three, written(3, 1, { outcome: 'unknown', place: undefined }), written(3, 2)];
    const absent = historyOf(writes);
    const present = historyOf(
      writes,
      {},
      { stored: [...absent.ending.stored, { client: 3, n: 1, kind: 'insert', copies: 1 }] },
    );
    expect([broken(judged(absent)), broken(judged(present))]).toEqual([[], []]);
    expect([judged(absent).counts.recovered, judged(present).counts.recovered]).toEqual([0, 1]);
  });
});

const lost = (write: Partial<Write>, ending: Partial<History['ending']>) => {
  const writes = [written(1, 1), written(1, 2, write), written(2, 1)];
  return historyOf(writes, {}, { ...ending, stored: without(writes, 1) });
};

describe('an acknowledged write that is not there', () => {
  test('breaks the law in synchronous mode, whatever the cause', () => {
    expect(broken(judged(lost({}, failedOver), true))).toEqual([LOST]);
  });

  test.each([
    ['behind the fork', {}, failedOver, 'behind the fork'],
    [
      'between its insert and its commit',
      {},
      { ...failedOver, forks: [{ timeline: 1, lsn: '0/1003' }], fates: new Map([['2', 'aborted']]) },
      'commit behind the fork',
    ],
    [
      'on a timeline that was given up',
      { place: { server: OLD, timeline: 3, lsn: '0/9', transaction: '2' } },
      { timeline: 4, forks: [{ timeline: 2, lsn: '0/8' }] },
      'timeline given up',
    ],
  ] as const)('is the work of replication: %s', (_, write, ending, cause) => {
    const judgement = judged(lost(write, ending));
    expect(judgement.losses.map((loss) => loss.cause)).toEqual([cause]);
    expect(broken(judgement)).toEqual([]);
  });

  test.each([
    ['on the last timeline', {}, {}],
    [
      'before the fork, and committed by the last primary',
      {},
      { timeline: 2, forks: [{ timeline: 1, lsn: '0/2000' }], fates: new Map([['2', 'committed']]) },
    ],
    [
      'before the fork, of a transaction that nobody was asked for',
      {},
      { timeline: 2, forks: [{ timeline: 1, lsn: '0/2000' }] },
    ],
    ['at an unknown place', { place: undefined }, failedOver],
  ] as const)('has no excuse %s', (_, write, ending) => {
    const judgement = judged(lost(write, ending));
    expect(judgement.losses.map((loss) => loss.cause)).toEqual(['unexplained']);
    expect(broken(judgement)).toEqual([LOST_BY_POINTSMAN]);
  });

  test('is lost by Pointsman if it was sent to an old primary after the bound, behind the fork or not', () => {
    const promotions = [{ server: NEXT, timeline: 2, begunAtMs: 9900, atMs: 10_000 }];
    const late = written(1, 2, { sentAtMs: 12_000, endedAtMs: 12_005 });
    const writes = [written(1, 1), late, written(2, 1)];
    const judgement = judged(historyOf(writes, { promotions }, { ...failedOver, stored: without(writes, 1) }));
    expect(judgement.losses.map((loss) => loss.cause)).toEqual(['behind the fork']);
    expect(broken(judgement)).toContain(LOST_BY_POINTSMAN);
  });
});

describe('what is there and should not be', () => {
  test.each([
    ['twice', 'Nothing is there twice', { client: 1, n: 1, kind: 'insert', copies: 2 }],
    ['never sent', 'Nothing is there that should not be', { client: 9, n: 9, kind: 'insert', copies: 1 }],
    ['refused', 'Nothing is there that should not be', { client: 4, n: 1, kind: 'insert', copies: 1 }],
    ['in another table', 'Nothing is there that should not be', { client: 1, n: 1, kind: 'transfer', copies: 1 }],
  ] as const)('%s', (_, law, row) => {
    const writes = [...three, written(4, 1, { outcome: 'refused', place: undefined }), written(4, 2)];
    const history = historyOf(writes);
    const stored = [...history.ending.stored.filter(({ client, n }) => client !== row.client || n !== row.n), row];
    expect(broken(judged(historyOf(writes, {}, { stored })))).toEqual([law]);
  });
});

const read = (sum: number): Sight => ({ session: 's', port: 'read', atMs: 1, seen: new Map(), sum });

describe('the accounts and the copies', () => {
  test.each([
    ['a read saw half a transfer', { sights: [read(SUM), read(SUM - 1)] }, {}],
    ['the sum differs at the end', {}, { sum: SUM + 1 }],
    ['a balance differs from its transfers', {}, { wrongBalances: 1 }],
  ] as const)('%s', (_, more, ending) => {
    expect(broken(judged(historyOf(three, more, ending)))).toEqual(['The sum of the accounts stays']);
  });

  test('a member with other rows', () => {
    const copies = new Map([
      ['pg-1', 'some'],
      ['pg-2', 'others'],
    ]);
    expect(broken(judged(historyOf(three, {}, { copies })))).toEqual(['All members have the same rows at the end']);
  });

  test('a client that nobody serves after the faults', () => {
    const judgement = judged(historyOf(three, {}, { healedAtMs: 1500 }));
    expect(broken(judgement)).toEqual(['Every client is served again when the faults have ended']);
    expect(judgement.stuck.map(({ id }) => id)).toEqual([1]);
  });
});

const sees = (session: string, client: number, n: number): Sight => ({
  session,
  port: 'read',
  atMs: n,
  seen: new Map([[client, n]]),
  sum: SUM,
});

describe('what a session sees', () => {
  const STEP = 'No session sees something older than before';

  test('less than before, or less than it wrote, is a fault; another session may', () => {
    expect(broken(judged(historyOf(three, { sights: [sees('a', 1, 5), sees('b', 1, 4), sees('a', 2, 1)] })))).toEqual(
      [],
    );
    expect(broken(judged(historyOf(three, { sights: [sees('a', 1, 5), sees('a', 1, 4)] })))).toEqual([STEP]);
    const wrote: Sight = { ...sees('a', 1, 7), port: 'write', sum: undefined };
    expect(broken(judged(historyOf(three, { sights: [wrote, sees('a', 1, 6)] })))).toEqual([STEP]);
  });

  test('each step back is found, whatever other sessions saw in between', () => {
    const ascending = fc.array(fc.record({ session: fc.constantFrom('a', 'b', 'c'), n: fc.nat(50) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(ascending, (reads) => {
        const sights = reads.map(({ session, n }) => sees(session, 1, n));
        const naive = reads.filter(({ session, n }, at) =>
          reads.slice(0, at).some((before) => before.session === session && before.n > n),
        );
        expect(judged(historyOf(three, { sights })).sights.stepsBack).toHaveLength(naive.length);
      }),
    );
  });
});

/** From a little before the promotion to a minute after it. */
const hidden = (server: string, promotedMs: number) => [
  { kind: 'cut', on: 'pg-2', fromMs: promotedMs - 10, toMs: promotedMs + 60_000, note: undefined, hidden: [server] },
];

describe('the fence', () => {
  const FENCE = 'Nothing is written at an old primary after the bound';
  const promotion: Promotion = { server: NEXT, timeline: 2, begunAtMs: 99_900, atMs: 100_000 };
  const forks = { timeline: 2, forks: [{ timeline: 1, lsn: '0/1002' }] };

  function sent(
    afterMs: number,
    more: Partial<Write> = {},
    executedAfterMs = afterMs + 2,
    history: Partial<History> = {},
  ) {
    const late = written(1, 2, { sentAtMs: promotion.atMs + afterMs, outcome: 'unknown', ...more });
    const writes = [written(1, 1), late, written(2, 1)];
    const executed = [
      ...historyOf(writes).executed.filter(({ n, client }) => client !== 1 || n !== 2),
      { ...executedAt(late), atMs: promotion.atMs + executedAfterMs },
    ];
    return judged(
      historyOf(
        writes,
        { promotions: [promotion], executed, ...history },
        { ...forks, stored: without(writes, 1).filter(({ client, n }) => client !== 1 || n !== 2) },
      ),
    );
  }

  test('before a promotion there is no late write', () => {
    const judgement = sent(-200);
    expect([judgement.fence.late.length, broken(judgement)]).toEqual([0, []]);
  });

  test('while it is under way a write is late, and no fault', () => {
    const judgement = sent(-50);
    expect([judgement.fence.late.length, broken(judgement)]).toEqual([1, []]);
  });

  test('within the bound it is late, beyond the bound it is a fault', () => {
    expect([sent(BOUNDS.seenMs - 100).fence.late.length, broken(sent(BOUNDS.seenMs - 100))]).toEqual([1, []]);
    expect(broken(sent(BOUNDS.seenMs + 100))).toEqual([FENCE]);
  });

  test('a write that a frozen server executes late was sent in time, and nobody may be told of success', () => {
    expect(broken(sent(-5000, {}, 20_000))).toEqual([]);
    expect(broken(sent(-5000, { outcome: 'acknowledged' }, 20_000))).toContain(FENCE);
  });

  test('the bound is longer while a fault hides the new primary', () => {
    expect(broken(sent(5000, {}, 5002, { faults: hidden(NEXT, promotion.atMs) }))).toEqual([]);
    expect(broken(sent(16_000, {}, 16_002, { faults: hidden(NEXT, promotion.atMs) }))).toEqual([FENCE]);
    expect(broken(sent(5000, {}, 5002, { faults: hidden(OLD, promotion.atMs) }))).toEqual([FENCE]);
  });

  test('a client beside Pointsman is counted, and judged by nobody', () => {
    const executed = [
      ...three.map(executedAt),
      { server: OLD, atMs: promotion.atMs + 50_000, client: 1001, n: 7, timeline: 1 },
    ];
    const judgement = judged(
      historyOf(three, { promotions: [promotion], executed }, { ...forks, forks: [{ timeline: 1, lsn: '0/F000' }] }),
    );
    expect([judgement.fence.direct.length, broken(judgement)]).toEqual([1, []]);
  });

  test('an acknowledged write in no log is a fault: nobody knows where it ran', () => {
    expect(broken(judged(historyOf(three, { executed: three.slice(1).map(executedAt) })))).toEqual([FENCE]);
  });
});

describe('made-up histories with one fault', () => {
  const FAULTS = {
    lost: (history: History, at: number): History => ({
      ...history,
      ending: { ...history.ending, stored: history.ending.stored.toSpliced(at, 1) },
    }),
    doubled: (history: History, at: number): History => ({
      ...history,
      ending: {
        ...history.ending,
        stored: history.ending.stored.map((one, index) => (index === at ? { ...one, copies: 2 } : one)),
      },
    }),
    unexpected: (history: History, at: number): History => ({
      ...history,
      writes: history.writes.map((one, index) => (index === at ? { ...one, outcome: 'refused' } : one)),
    }),
  };

  test('each is found and nothing else', () => {
    const shape = fc.record({
      fault: fc.constantFrom('lost', 'doubled', 'unexpected' as const),
      count: fc.integer({ min: 1, max: 60 }),
      at: fc.nat(),
    });
    fc.assert(
      fc.property(shape, ({ fault, count, at }) => {
        const writes = Array.from({ length: count }, (_, index) => written(1 + (index % 3), 1 + Math.floor(index / 3)));
        const more = [1, 2, 3].map((client) => written(client, 100));
        const judgement = judged(FAULTS[fault](historyOf([...writes, ...more]), at % count), true);
        expect([judgement.losses.length, judgement.doubled.length, judgement.unexpected.length]).toEqual(
          ['lost', 'doubled', 'unexpected'].map((name) => (name === fault ? 1 : 0)),
        );
      }),
    );
  });
});

test('positions in the WAL are compared as numbers', () => {
  expect(position('1/0') > position('0/FFFFFFFF')).toBe(true);
  expect(position('0/A0') > position('0/9F')).toBe(true);
  expect(() => position('nonsense')).toThrow('no position');
});

// The judge of the consistency run can fail: histories without a fault pass, and it finds each known fault.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { History, Promotion, Sight, Write } from '../../bench/consistency/history.ts';
import { position } from '../../bench/consistency/judge/positions.ts';
import {
  broken,
  executedAt,
  historyOf,
  judged,
  NEXT,
  OLD,
  place,
  SUM,
  three,
  without,
  written,
} from './history-samples.ts';

const LOST = 'Nothing that was acknowledged is lost';
const LOST_BY_POINTSMAN = 'Nothing is lost by Pointsman';
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

const lost = (write: Partial<Write>, ending: Partial<History['ending']>, more: Partial<History> = {}) => {
  const writes = [written(1, 1), written(1, 2, write), written(2, 1)];
  return historyOf(writes, more, { ...ending, stored: without(writes, 1) });
};

/** The server of each write began timeline 3, which is no part of the history. */
const givenUp = { timeline: 4, forks: [{ timeline: 2, lsn: '0/8' }] };
const onThree = { place: place({ timeline: 3, lsn: '0/9' }) };
const beganThree: Promotion = { server: OLD, timeline: 3, begunAtMs: 900, atMs: 1000 };

/** Patroni of the server has the lock in this loop, and in two more. */
const claims = (server: string, atMs: number) => [0, 1000, 2000].map((more) => ({ server, atMs: atMs + more }));

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
      'before the fork, of a transaction that the last primary has not begun',
      {},
      {
        ...failedOver,
        forks: [{ timeline: 1, lsn: '0/1003' }],
        fates: new Map([['2', 'error: transaction ID 2 is in the future']]),
      },
      'commit behind the fork',
    ],
    ['on a timeline that was given up', onThree, givenUp, 'timeline given up'],
  ] as const)('is the work of replication: %s', (_, write, ending, cause) => {
    const judgement = judged(lost(write, ending, { promotions: [beganThree] }));
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
    ['on a timeline that its server never began', onThree, givenUp],
    ['on a timeline that is not known', { place: place({ timeline: 5 }) }, failedOver],
  ] as const)('has no excuse %s', (_, write, ending) => {
    const judgement = judged(lost(write, ending));
    expect(judgement.losses.map((loss) => loss.cause)).toEqual(['unexplained']);
    expect(broken(judgement)).toEqual([LOST_BY_POINTSMAN]);
  });

  test('has no excuse at an unknown place', () => {
    const judgement = judged(lost({ place: undefined }, failedOver));
    expect(judgement.losses.map((loss) => loss.cause)).toEqual(['unexplained']);
    expect(broken(judgement)).toContain(LOST_BY_POINTSMAN);
  });

  test('is behind the fork if its COMMIT began there, by the log of its server alone', () => {
    const ending = { timeline: 2, forks: [{ timeline: 1, lsn: '0/2000' }] };
    const history = lost({}, ending);
    const commits = history.commits.map((one) => (one.n === 2 ? { ...one, lsn: '0/2000' } : one));
    const elsewhere = commits.map((one) => (one.n === 2 ? { ...one, server: NEXT } : one));
    const cause = (more: Partial<History>) => judged({ ...history, ...more }).losses.map((loss) => loss.cause);
    expect(cause({ commits })).toEqual(['commit behind the fork']);
    expect(cause({ commits: elsewhere })).toEqual(['unexplained']);
  });

  test('is not behind the fork of a timeline that another server began under the same number', () => {
    const promotions = [NEXT, OLD].map((server) => ({ server, timeline: 2, begunAtMs: 900, atMs: 1000 }));
    const ending = { timeline: 3, forks: [{ timeline: 2, lsn: '0/1000' }] };
    const judgement = judged(lost({ place: place({ timeline: 2 }) }, ending, { promotions }));
    expect(judgement.losses.map((loss) => loss.cause)).toEqual(['unexplained']);
  });

  describe('with its whole timeline, in synchronous mode', () => {
    test.each([
      ['by Patroni that took the lock back', [...claims(OLD, 1100), ...claims(NEXT, 6000)], [], 'lock taken back', []],
      ['without words of Patroni', claims(OLD, 5000), [], 'timeline given up', [LOST]],
      [
        'with words from before it took the lock again',
        [...claims(NEXT, 6000), ...claims(OLD, 7500)],
        [],
        'timeline given up',
        [LOST],
      ],
      ['with the words of one loop alone', claims(NEXT, 6000).slice(1, 2), [], 'timeline given up', [LOST]],
      [
        'by a promotion of a server that did not have it',
        claims(NEXT, 6000),
        [{ server: NEXT, timeline: 4, begunAtMs: 5900, atMs: 5950 }],
        'timeline given up',
        [LOST],
      ],
    ] as const)('%s', (_, said, more, cause, laws) => {
      const history = lost(onThree, givenUp, { promotions: [beganThree, ...more], claims: said });
      const judgement = judged(history, true);
      expect(judgement.losses.map((loss) => loss.cause)).toEqual([cause]);
      expect(broken(judgement)).toEqual(laws);
    });
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

/** Both began timeline 2, at other times; the history has the one of NEXT. */
const twins = [
  { server: OLD, timeline: 2, begunAtMs: 900, atMs: 1000 },
  { server: NEXT, timeline: 2, begunAtMs: 60_000, atMs: 60_001 },
];
const twinEnding = { timeline: 2, forks: [{ timeline: 1, lsn: '0/F000' }], writers: new Map([[2, [NEXT]]]) };
const onTwo = (server: string) => ({ place: place({ server, timeline: 2 }) });

const takenBack = (sentAtMs: number): History =>
  historyOf(
    [written(1, 1, { sentAtMs, endedAtMs: sentAtMs + 5 }), written(2, 1, { sentAtMs: 100 })],
    { promotions: twins, claims: [{ server: OLD, atMs: 1500 }] },
    twinEnding,
  );

describe('two timelines of one number', () => {
  test('by one server: what it wrote on the first is given up, and a loss on the second has no excuse', () => {
    const promotions = [900, 60_000].map((atMs) => ({ server: OLD, timeline: 2, begunAtMs: atMs, atMs }));
    const said = claims(NEXT, 9000);
    const causes = [1010, 70_000].map((sentAtMs) => {
      const writes = [written(1, 1), written(1, 2, { ...onTwo(OLD), sentAtMs }), written(2, 1)];
      const ending = { ...twinEnding, writers: new Map([[2, [OLD]]]), stored: without(writes, 1) };
      return judged(historyOf(writes, { promotions, claims: said }, ending)).losses.map(({ cause }) => cause);
    });
    expect(causes).toEqual([['lock taken back'], ['unexplained']]);
  });

  test.each([
    ['by the server of the other one: given up', OLD, 'lock taken back', []],
    ['by the server of the last one: no excuse', NEXT, 'unexplained', [LOST]],
  ] as const)('a loss %s', (_, server, cause, laws) => {
    const writes = [written(1, 1), written(1, 2, onTwo(server)), written(2, 1)];
    const history = historyOf(
      writes,
      { promotions: twins, claims: claims(NEXT, 9000) },
      { ...twinEnding, stored: without(writes, 1) },
    );
    const judgement = judged(history, true);
    expect(judgement.losses.map((loss) => loss.cause)).toEqual([cause]);
    expect(broken(judgement)).toEqual(laws);
  });

  test('an old primary may be taken back when the new one was given up, after all have agreed for 30 s', () => {
    expect(broken(judged(takenBack(20_000)))).toEqual(['Nothing is written at an old primary after the bound']);
    const unnamed = { ...takenBack(32_000), claims: [{ server: OLD, atMs: 40_000 }] };
    expect(broken(judged(unnamed))).toEqual(['Nothing is written at an old primary after the bound']);
    expect(broken(judged(takenBack(32_000)))).toEqual([]);
  });
});

describe('what is there and should not be', () => {
  test.each([
    ['twice', 'Nothing is there or was executed twice', { client: 1, n: 1, kind: 'insert', copies: 2 }],
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

describe('what a client was told, and the logs', () => {
  const CONFIRMED = 'Every success is in the log of its server';
  const history = historyOf(three);
  const faults: readonly (readonly [string, Partial<History>])[] = [
    ['no execution', { executed: history.executed.slice(1) }],
    ['executions by another server', { executed: history.executed.map((one) => ({ ...one, server: NEXT })) }],
    ['no COMMIT', { commits: history.commits.slice(1) }],
    ['a COMMIT on another timeline', { commits: history.commits.map((one) => ({ ...one, timeline: 9 })) }],
    ['the answer of another write', { writes: [written(1, 1, { place: place({}) }), ...three.slice(1)] }],
  ];
  test.each(faults)('%s is a fault', (_, more) => {
    expect(broken(judged({ ...history, ...more }))).toEqual([CONFIRMED]);
  });

  test('an unknown write needs no line, and one that ran twice is a fault although its rows are not there', () => {
    const unknown = written(3, 1, { outcome: 'unknown', place: undefined });
    const writes = [...three, unknown, written(3, 2)];
    const once = historyOf(writes);
    const lines = [executedAt(unknown), { ...executedAt(unknown), server: NEXT, timeline: 2 }];
    const judgements = [0, 1, 2].map((count) =>
      judged({ ...once, executed: [...once.executed, ...lines.slice(0, count)] }),
    );
    expect(judgements.map(broken)).toEqual([[], [], ['Nothing is there or was executed twice']]);
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

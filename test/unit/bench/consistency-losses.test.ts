// The judge of writes that are lost: each cause has its proof, and what has none is unexplained.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { History, LockClaim, Promotion, Write } from '../../bench/consistency/history.ts';
import { BOUNDS, broken, historyOf, judged, NEXT, OLD, place, without, written } from './history-samples.ts';

const LOST = 'Nothing that was acknowledged is lost';
const LOST_BY_POINTSMAN = 'Nothing is lost by Pointsman';
/** The history left timeline 1 at 0/1002: what was written from there on is lost by replication. */
const failedOver = { timeline: 2, forks: [{ timeline: 1, lsn: '0/1002' }] };

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
    const later: Promotion = { server: NEXT, timeline: 4, begunAtMs: 50_000, atMs: 50_001 };
    const judgement = judged(lost(write, ending, { promotions: [beganThree, later] }));
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
      ['without words of Patroni', claims(OLD, 5000), [], 'unexplained', [LOST]],
      [
        'with words from before it took the lock again',
        [...claims(NEXT, 6000), ...claims(OLD, 7500)],
        [],
        'unexplained',
        [LOST],
      ],
      ['with the words of one loop alone', claims(NEXT, 6000).slice(1, 2), [], 'unexplained', [LOST]],
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
    expect(broken(judged(takenBack(20_000)))).toEqual(['Nothing is written or read at an old primary after the bound']);
    const unnamed = { ...takenBack(32_000), claims: [{ server: OLD, atMs: 40_000 }] };
    expect(broken(judged(unnamed))).toEqual(['Nothing is written or read at an old primary after the bound']);
    expect(broken(judged(takenBack(32_000)))).toEqual([]);
  });
});

/** Writes that last, and then writes that are lost in one of two ways. */
interface Chapter {
  readonly kept: number;
  readonly lost: number;
  readonly end: 'failover' | 'lock taken back';
}

const chapters = fc.array(
  fc.record({
    kept: fc.integer({ min: 1, max: 5 }),
    lost: fc.nat(4),
    end: fc.constantFrom('failover', 'lock taken back' as const),
  }),
  { minLength: 1, maxLength: 6 },
);

/** Replication loses the writes behind each fork; Patroni those of a primary that it gives up for the one before. */
function told(story: readonly Chapter[]): History {
  const writes: Write[] = [];
  const kept = new Set<Write>();
  const promotions: Promotion[] = [];
  const words: LockClaim[] = [];
  const forks: { timeline: number; lsn: string }[] = [];
  let [atMs, lsn, timeline, server, other] = [1000, 0x1000, 1, OLD, NEXT];
  const at = (): string => `0/${lsn.toString(16).toUpperCase()}`;
  const write = (by: string, on: number, isKept: boolean): void => {
    atMs += 10;
    lsn += 0x10;
    const n = writes.length + 1;
    const spot = place({ client: 1, n, server: by, timeline: on, lsn: at(), transaction: String(n) });
    const one = written(1, n, { sentAtMs: atMs, endedAtMs: atMs + 5, place: spot });
    writes.push(one);
    if (isKept) kept.add(one);
  };
  const promote = (name: string, on: number): void => {
    atMs += 10;
    promotions.push({ server: name, timeline: on, begunAtMs: atMs, atMs });
  };
  for (const { kept: count, lost: gone, end } of story) {
    for (let left = count; left > 0; left -= 1) write(server, timeline, true);
    if (end === 'failover') {
      lsn += 1;
      forks.push({ timeline, lsn: at() });
      for (let left = gone; left > 0; left -= 1) write(server, timeline, false);
      timeline += 1;
      [server, other] = [other, server];
      promote(server, timeline);
    } else {
      promote(other, timeline + 1);
      for (let left = gone; left > 0; left -= 1) write(other, timeline + 1, false);
      words.push(...claims(server, (atMs += 100)));
      atMs += BOUNDS.agreedMs;
    }
  }
  write(server, timeline, true);
  const stored = writes.filter((one) => kept.has(one)).map(({ client, n, kind }) => ({ client, n, kind, copies: 1 }));
  const writers = new Map([...kept].flatMap(({ place: of }) => (of ? [[of.timeline, [of.server]] as const] : [])));
  return historyOf(writes, { promotions, claims: words }, { timeline, forks, writers, stored });
}

describe('made-up clusters that fail over and give timelines up', () => {
  test('every loss has its cause, and a write that is gone besides has none', () => {
    fc.assert(
      fc.property(chapters, fc.nat(), (story, which) => {
        const history = told(story);
        const gone = (end: Chapter['end']) =>
          story.filter((one) => one.end === end).reduce((sum, one) => sum + one.lost, 0);
        const judgement = judged(history);
        expect(judgement.losses.filter(({ cause }) => cause === 'behind the fork')).toHaveLength(gone('failover'));
        expect(judgement.losses.filter(({ cause }) => cause === 'lock taken back')).toHaveLength(
          gone('lock taken back'),
        );
        expect(broken(judgement)).toEqual([]);
        expect(broken(judged(history, true))).toEqual(gone('failover') === 0 ? [] : [LOST]);
        const { stored } = history.ending;
        const less = { ...history.ending, stored: stored.toSpliced(which % stored.length, 1) };
        const missing = judged({ ...history, ending: less });
        expect(missing.losses.filter(({ cause }) => cause === 'unexplained')).toHaveLength(1);
        expect(broken(missing)).toEqual([LOST_BY_POINTSMAN]);
        expect(broken(judged({ ...history, ending: less }, true))).toEqual([LOST]);
      }),
    );
  });
});

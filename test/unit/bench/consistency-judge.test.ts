// The judge of the consistency run can fail: histories without a fault pass, and it finds each known fault.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { History, Sight } from '../../bench/consistency/history.ts';
import { position } from '../../bench/consistency/judge/positions.ts';
import { broken, executedAt, historyOf, judged, NEXT, place, SUM, three, written } from './history-samples.ts';

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

const read = (sum: number): Sight => ({
  session: 's',
  port: 'read',
  atMs: 1,
  seen: new Map(),
  sum,
  primary: undefined,
});

const healed = (sights: readonly Sight[]) => judged(historyOf(three, { sights }, { healedAtMs: 1000 }));

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

  test('a port of which nobody reads after the faults', () => {
    const late = { ...read(SUM), atMs: 1200 };
    expect(broken(healed([read(SUM), late]))).toEqual([]);
    expect(healed([read(SUM), { ...late, port: 'write' }]).silentPorts).toEqual(['read']);
    expect(broken(healed([read(SUM)]))).toEqual(['Every client is served again when the faults have ended']);
  });
});

const sees = (session: string, client: number, n: number): Sight => ({
  session,
  port: 'read',
  atMs: n,
  seen: new Map([[client, n]]),
  sum: SUM,
  primary: undefined,
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
    repeated: (history: History, at: number): History => ({
      ...history,
      executed: [...history.executed, ...history.executed.slice(at, at + 1)],
    }),
    misanswered: (history: History, at: number): History => ({
      ...history,
      commits: history.commits.toSpliced(at, 1),
    }),
  };
  const NAMES = ['lost', 'doubled', 'unexpected', 'repeated', 'misanswered'] as const;

  test('each is found and nothing else', () => {
    const shape = fc.record({
      fault: fc.constantFrom(...NAMES),
      count: fc.integer({ min: 1, max: 60 }),
      at: fc.nat(),
    });
    fc.assert(
      fc.property(shape, ({ fault, count, at }) => {
        const writes = Array.from({ length: count }, (_, index) => written(1 + (index % 3), 1 + Math.floor(index / 3)));
        const more = [1, 2, 3].map((client) => written(client, 100));
        const judgement = judged(FAULTS[fault](historyOf([...writes, ...more]), at % count), true);
        const { losses, doubled, unexpected, repeated, oddAnswers } = judgement;
        expect([losses, doubled, unexpected, repeated, oddAnswers].map(({ length }) => length)).toEqual(
          NAMES.map((name) => (name === fault ? 1 : 0)),
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

// The parts around the judge of the consistency run: the log of a server, the plan of a seed, and the reports.
import { describe, expect, test } from 'vitest';
import { FAULT_KINDS, briefPlan, planOf } from '../../bench/consistency/faults/plan.ts';
import type { History } from '../../bench/consistency/history.ts';
import { judge } from '../../bench/consistency/judge/judge.ts';
import { readOptions } from '../../bench/consistency/options.ts';
import { page } from '../../bench/consistency/report/page.ts';
import { textReport } from '../../bench/consistency/report/text.ts';
import { readServerLog } from '../../bench/consistency/server-log.ts';
import { randomFrom } from '../../support/branches/quirks.ts';

const SERVER = '127.0.0.12:5432';
const BOUNDS = { seenMs: 1900, hiddenMs: 15_000, agreedMs: 30_000 };

test('the log of a server has its writes and its promotions, among lines of Patroni', () => {
  const text = `2026-11-26 18:47:18,101 INFO: no action. I am (pg-2), a secondary
1732645120.001 [77] LOG:  database system is ready to accept read-only connections
1732645123.400 [77] LOG:  received promote request
1732645123.456 [77] LOG:  selected new timeline ID: 2
1732645123.500 [70] LOG:  database system is ready to accept connections
1732645124.000 [99] LOG:  executed 3 17 2
1732645124.002 [99] LOG:  committing 3 17 2 0/5A0
1732645124.100 [99] ERROR:  executed 3 18 2
2024-11-26 18:47:20,101 INFO: no action. I am (pg-2), the leader with the lock
1732645130.000 [70] LOG:  database system is ready to accept connections`;
  expect(readServerLog(SERVER, text)).toEqual({
    executed: [{ server: SERVER, atMs: 1_732_645_124_000, client: 3, n: 17, timeline: 2 }],
    commits: [{ server: SERVER, atMs: 1_732_645_124_002, client: 3, n: 17, timeline: 2, lsn: '0/5A0' }],
    promotions: [{ server: SERVER, timeline: 2, begunAtMs: 1_732_645_123_400, atMs: 1_732_645_123_500 }],
    claims: [{ server: SERVER, atMs: new Date(2024, 10, 26, 18, 47, 20, 101).getTime() }],
  });
});

const first = (seed: number, count: number) => planOf(randomFrom(seed)).take(count).toArray();

const ownKinds = (argv: readonly string[]) =>
  readOptions(argv, 0).kinds.filter((kind) => kind.includes('of Pointsman'));

describe('the plan', () => {
  test('follows from its seed, and has every kind before one comes twice', () => {
    const count = FAULT_KINDS.length;
    expect(first(7, count)).toEqual(first(7, count));
    expect(first(7, count)).not.toEqual(first(8, count));
    expect(new Set(first(7, count).map(({ kind }) => kind)).size).toBe(count);
  });

  test('faults of Pointsman itself come on demand alone, so that a seed makes the faults that it made', () => {
    expect([ownKinds([]), ownKinds(['--itself', 'true']).length]).toEqual([[], 4]);
    expect(readOptions(['--itself', 'true', '--tls', 'true', '--pointsmen', '2'], 0).chosen).toBe(
      '--minutes 10 --itself true --tls true --pointsmen 2',
    );
  });

  test('in short, no fault waits for the ttl', () => {
    expect(Math.max(...briefPlan(randomFrom(1)).map(({ lastsMs }) => lastsMs))).toBeLessThan(5000);
  });
});

test('options that are no options are refused with the usage', () => {
  expect(readOptions([], 0).modes).toHaveLength(6);
  expect(readOptions(['--moves', 'off', '--seed', '7'], 0)).toMatchObject({ seed: 7, modes: [{ moves: 'off' }, {}] });
  expect(() => readOptions(['--moves', 'often'], 0)).toThrow("--moves: 'often' is not off or planned or always");
  expect(() => readOptions(['--minutes', '0'], 0)).toThrow('--minutes');
});

describe('the reports', () => {
  const write = { client: 1, kind: 'insert', sentAtMs: 1000, endedAtMs: 1001, outcome: 'acknowledged' } as const;
  const place = (n: number) => ({ client: 1, n, server: SERVER, timeline: 1, lsn: `0/${n}`, transaction: String(n) });
  const executed = [1, 2].map((n) => ({ server: SERVER, atMs: 2000 + n, client: 1, n, timeline: 1 }));
  const history: History = {
    clients: [{ id: 1, application: 'a <pool>' }],
    writes: [1, 2].map((n) => ({ ...write, n, place: place(n), words: undefined })),
    sights: [],
    executed,
    commits: executed.map((one) => ({ ...one, lsn: `0/${one.n}` })),
    claims: [],
    promotions: [{ server: '127.0.0.11:5432', timeline: 2, begunAtMs: 1400, atMs: 1500 }],
    faults: [
      { kind: 'kill of Patroni', on: 'pg-2', fromMs: 900, toMs: 1100, note: 'a & b', hidden: [], blind: undefined },
    ],
    ending: {
      stored: [{ client: 1, n: 1, kind: 'insert', copies: 1 }],
      sum: 10,
      wrongBalances: 0,
      writers: new Map(),
      timeline: 2,
      forks: [{ timeline: 1, lsn: '0/2' }],
      copies: new Map([['pg-1', 'same']]),
      fates: new Map(),
      healedAtMs: 0,
      stoppedAtMs: 60_000,
    },
  };
  const members = [{ name: 'pg-2', server: SERVER }];
  const run = {
    history,
    fromMs: 0,
    toMs: 60_000,
    members,
    moves: new Map<string, number>(),
    pointsmanLog: [],
    serverLogs: new Map<string, string>(),
  };
  const judgement = judge(history, { isSynchronous: true, sum: 10, bounds: BOUNDS });
  const runs = [{ mode: { moves: 'off', replication: 'synchronous' } as const, seed: 7, run, judgement }];
  const around = { date: 'today', facts: ['two cores'], chosen: '--minutes 10', bounds: BOUNDS };

  test('the page stands alone, names each fault and loss, and tells how to run it again', () => {
    const html = page(runs, around);
    expect(html).toContain('All laws held in 0 of 1 modes.');
    expect(html).toContain('written at 0/2 of timeline 1; the history leaves timeline 1 at 0/2');
    expect(html).toContain('a &lt;pool&gt;');
    expect(html).toContain('a &amp; b');
    expect(html).toContain('--seed 7 --minutes 10 --moves off --replication synchronous');
    expect(html).not.toMatch(/NaN|undefined|Infinity|src=|https?:|["\s]\/\w/);
  });

  test('the text has the same figures', () => {
    const text = textReport(runs);
    expect(text).toContain('| synchronous replication, moves off | 2 | 1 | 0 | 0 |');
    expect(text).toContain('BROKEN Nothing that was acknowledged is lost: 1 of 2 acknowledged writes');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });
});

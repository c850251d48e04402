import { describe, expect, it } from 'vitest';
import { parsedWalReport } from '../../../src/wire/talk/wal-report.ts';
import { databaseOf, OPENING_BALANCE } from './database.ts';
import { FIRST_POSITION, insertPosition, Wal, walFile, WalPool, type Change } from './wal.ts';

function commit(wal: Wal, xid: number, ...changes: readonly Change[]): void {
  for (const change of changes) wal.append({ kind: 'change', xid, change });
  wal.append({ kind: 'commit', xid, changes });
}

const row = (number: number): Change => ({ client: 'c', number });

function pair(): { readonly old: Wal; readonly next: Wal } {
  const pool = new WalPool();
  const [old, next] = [new Wal(pool), new Wal(pool)];
  commit(old, 740, row(1));
  old.flush();
  next.copy(old);
  return { old, next };
}

describe('the log of a server', () => {
  it('loses what was not on disk in a crash', () => {
    const { old } = pair();
    const end = old.end();
    commit(old, 741, row(2));
    old.crash();
    expect([old.end(), databaseOf(old.records()).numbers('c')]).toEqual([end, [1]]);
  });

  it('forks where another server is promoted, and the old server cannot follow from behind the fork', () => {
    const { old, next } = pair();
    const fork = next.end();
    next.promote(0, 'next', 1);
    commit(next, 741, row(2));
    expect(next.refusal(old.reached())).toBeUndefined();
    commit(old, 741, row(3));
    old.flush();
    expect(next.refusal(old.reached())).toContain(`ahead of position ${fork} of timeline 1`);
    expect([next.timeline(), next.forks().map(({ timeline, end }) => [timeline, end])]).toEqual([2, [[1, fork]]]);
    expect([next.common(old), databaseOf(old.records()).numbers('c')]).toEqual([2, [1, 3]]);
    next.flush();
    old.copy(next);
    expect(databaseOf(old.records()).numbers('c')).toEqual([1, 2]);
  });

  it('does not mix two timelines with one number', () => {
    const { old, next } = pair();
    next.promote(0, 'next', 1);
    old.promote(0, 'old', 1);
    next.flush();
    expect(next.refusal(old.reached())).toBe('record with incorrect prev-link');
  });

  it('has positions that Pointsman reads as the end of the last record, also at the beginning of a page', () => {
    for (const end of [FIRST_POSITION, FIRST_POSITION + 8192, FIRST_POSITION + 120, 2 ** 33]) {
      const position = insertPosition(end);
      const report = {
        written: String(position),
        file: walFile(27, position),
        page: '8192',
        segment: '16777216',
        recovered: null,
        ended: '740',
        below: '741',
      };
      expect(parsedWalReport(JSON.stringify(report))).toMatchObject({ timeline: 27, written: end });
    }
  });

  it('makes the database: transfers keep the sum, and transactions without a commit are not there', () => {
    const wal = new Wal(new WalPool());
    const [from, to] = [
      { account: 1, amount: -30 },
      { account: 2, amount: 30 },
    ];
    commit(wal, 740, { ...row(1), transfer: from }, { ...row(2), transfer: to });
    wal.append({ kind: 'change', xid: 741, change: { ...row(3), transfer: to } });
    const database = databaseOf(wal.records());
    expect([database.balances().get(1), database.balances().get(2)]).toEqual([
      OPENING_BALANCE - 30,
      OPENING_BALANCE + 30,
    ]);
    expect([database.numbers('c'), database.endedBelow(), database.visibleBelow()]).toEqual([[1, 2], 741, 742]);
  });
});

// The comparison after a restore: a session goes on only if everything is as it was. Restores with real servers are in
// test/integration/wire/.
import { describe, expect, test } from 'vitest';
import { SessionRestore } from '../../../../src/wire/talk/session-restore.ts';
import { aMessage, parameterStatus } from '../../../support/sockets/messages.ts';
import { aState } from '../../../support/values/carried-state.ts';
import { cut, executed, NextServer, ONE, type Quirks, restore, STATE, TWO, UNNAMED, WAL } from './next-server.ts';

const RESTORED = { kind: 'restored', wal: undefined };

test('a session that is as before goes on', () => {
  expect(restore()).toMatchObject({ result: RESTORED, tries: 1 });
  expect(restore({}, { unnamed: UNNAMED }).result).toEqual(RESTORED);
  expect(restore({}, { state: aState() }).result).toEqual(RESTORED);
});

describe('it does not go on when', () => {
  test.each<[string, Quirks, string]>([
    ['a setting has another value', { settings: { DateStyle: 'ISO' } }, 'DateStyle'],
    ['a custom setting has', { settings: { 'app.tenant': '8' } }, 'app.tenant'],
    ['a limit of time has', { settings: { statement_timeout: '0' } }, 'statement_timeout'],
    ['the encoding is another one', { settings: { client_encoding: 'UTF8' } }, 'client_encoding'],
    ['it has another role', { who: { role: 'none' } }, 'role'],
    ['it belongs to another user', { who: { sessionUser: 'admin' } }, 'session_user'],
    ['it is in another database', { who: { identity: '5.10.11' } }, 'the identity of the database or of a role'],
    ['names lead elsewhere', { who: { searchPath: 'public' } }, 'search_path'],
    ['a statement has other columns', { columns: { s1: ['a:20:-1'] } }, 'the columns or types of the statement s1'],
    ['a statement returns nothing', { columns: { s1: undefined } }, 'the columns or types of the statement s1'],
    ['a statement takes other types', { types: [20] }, 'the columns or types of the statement s1'],
  ])('%s', (_, quirks, difference) => {
    const why = `different: ${difference}`;
    expect(restore(quirks).result).toEqual({ kind: 'failed', reason: 'move_differs', sqlState: undefined, why });
  });

  test('the unnamed statement has other columns', () => {
    const { result } = restore({ columns: { '': ['a:25:-1'] } }, { unnamed: UNNAMED });
    expect(result).toMatchObject({ why: 'different: the columns or types of the unnamed statement' });
  });

  test('several things differ: it names each', () => {
    const { result } = restore({ settings: { DateStyle: 'ISO' }, who: { role: 'none', searchPath: '' } });
    expect(result).toMatchObject({ why: 'different: DateStyle, role, search_path' });
  });

  test.each<[string, Quirks, string, string | undefined]>([
    [
      'the server refuses a setting',
      { refuses: { sql: 'json_each_text', sqlState: '42501', message: 'permission denied' } },
      'the settings DateStyle, app.tenant: permission denied',
      '42501',
    ],
    [
      'the server refuses a statement',
      { refuses: { sql: 'select $1::int', sqlState: '42P01', message: 'no such table' } },
      'the statement s1: no such table',
      '42P01',
    ],
    [
      'the server refuses our encoding',
      { refuses: { sql: "client_encoding = 'UTF8'", sqlState: '22023', message: 'no' } },
      'the encoding: no',
      '22023',
    ],
    [
      'the server refuses another reading of literals',
      { refuses: { sql: 'OPERATOR(pg_catalog.<>) v', sqlState: '22023', message: 'no' } },
      'the reading of literals: no',
      '22023',
    ],
    [
      'the server ends the session during our guard',
      { refuses: { sql: 'SET LOCAL lock_timeout', sqlState: '57014', message: 'no', severity: 'FATAL' } },
      'guard: no',
      '57014',
    ],
    [
      'the server ends the session at a statement that the role may not prepare',
      { refuses: { sql: 'select $1::int', sqlState: '42501', message: 'no', severity: 'FATAL' } },
      'the statement s1: no',
      '42501',
    ],
    [
      'the server ends the session',
      { refuses: { sql: "set_config('role'", sqlState: '57P01', message: 'terminating', severity: 'FATAL' } },
      'the role reader: terminating',
      '57P01',
    ],
  ])('%s', (_, quirks, why, sqlState) => {
    expect(restore(quirks)).toMatchObject({
      result: { kind: 'failed', reason: 'move_restore', why, sqlState },
      tries: 1,
    });
  });
});

test.each([aMessage('9'), Buffer.from('\x00\x00\x00\x00\x00')])(
  'it does not go on after bytes of no protocol',
  (bytes) => {
    const one = new SessionRestore({ state: aState(), unnamed: undefined, serverMajor: 18 });
    one.start();
    const why = 'the answer is not understood';
    expect(one.take(bytes)).toMatchObject({ kind: 'done', result: { kind: 'failed', reason: 'move_restore', why } });
  },
);

test('a session that has set nothing has nothing set', () => {
  const { log } = restore({}, { state: aState(), unnamed: UNNAMED });
  expect(log.filter((line) => line.includes('json_each_text'))).toEqual([]);
  expect(log.filter((line) => line.includes("set_config('client_encoding'"))).toEqual([]);
  expect(
    executed(log).filter((line) => line.includes('client_encoding')),
    'ours, once',
  ).toHaveLength(1);
  const plain = restore({}, { state: aState(), unnamed: { ...UNNAMED, encoding: 'UTF8' } });
  expect(plain.log).toEqual(log);
});

test('what the server tells behind an answer belongs to the next try', () => {
  const { server } = new NextServer(STATE, cut(1));
  const one = new SessionRestore({ state: STATE, unnamed: undefined, serverMajor: 18 });
  const again = one.take(Buffer.concat([server.take(one.start()), parameterStatus('TimeZone', 'UTC')]));
  if (again.kind !== 'send') throw new Error('it does not try again');
  const end = one.take(server.take(again.bytes));
  expect(end).toMatchObject({ result: RESTORED, parameters: new Map([['TimeZone', 'UTC']]) });
});

test('the order: own limits, settings, reading, statements and role, comparison, and the encoding last', () => {
  const { log } = restore({}, { unnamed: UNNAMED });
  const at = (part: string): number => log.findIndex((line) => line.startsWith('E ') && line.includes(part));
  const order = [
    'RESET ALL',
    'BEGIN',
    'SET LOCAL lock_timeout',
    'SET LOCAL client_encoding',
    '{"DateStyle":"German","app.tenant":"7"}',
    '{"statement_timeout":"5s"}',
    '{"standard_conforming_strings":"off"}',
    "set_config('role', $1, false) [reader]",
    'session_user',
    '{"client_encoding":"LATIN1"}',
  ].map(at);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
  expect(log.findLast((line) => line.startsWith('E '))).toBe('E COMMIT');
  const prepared = log.findIndex((line) => line.startsWith('P s1'));
  expect(log[prepared - 1], 'a login trigger may have left one of this name').toBe('C s1');
  expect(prepared).toBeGreaterThan(at("set_config('role'"));
  expect(log.slice(at('RESET ALL') + 1, at('BEGIN')).filter((line) => line === 'S')).toEqual(['S']);
});

test('login triggers came with version 17: before it nothing is reset', () => {
  expect(executed(restore({}, { serverMajor: 17 }).log)[0]).toBe('E RESET ALL');
  expect(executed(restore({}, { serverMajor: 16 }).log)[0]).toMatch(/^E BEGIN/);
});

test('a statement that SQL prepared is prepared by SQL', () => {
  const state = { ...STATE, prepared: [TWO] };
  const { log, result } = restore({}, { state });
  expect(result).toEqual(RESTORED);
  expect(log).toContain('E PREPARE s2 AS delete from t');
  expect(log.some((line) => line.startsWith('P s2'))).toBe(false);
});

test('an unnamed statement in another encoding is parsed in it', () => {
  const { log, result } = restore({}, { unnamed: { ...UNNAMED, encoding: 'LATIN1' } });
  expect(result).toEqual(RESTORED);
  const parsed = log.findIndex((line) => line.startsWith('P : '));
  expect(executed(log.slice(0, parsed)).at(-1)).toContain('[LATIN1]');
  expect(executed(log.slice(parsed))[0]).toBe("E SET LOCAL client_encoding = 'UTF8'");
});

describe('statements that the role alone may not prepare', () => {
  const both = { ...STATE, prepared: [ONE, { ...ONE, name: 's2' }] };

  test('are prepared before the role is set', () => {
    const before = restore({ preparesOnly: { s1: 'before the role' } });
    expect(before).toMatchObject({ result: RESTORED, tries: 2 });
    expect(before.log).toContain('E ROLLBACK');
  });

  test('are not tried for ever', () => {
    const names = Array.from({ length: 25 }, (_, index) => `p${index}`);
    const state = { ...STATE, prepared: names.map((name) => ({ ...ONE, name })) };
    const preparesOnly = Object.fromEntries(
      names.map((name, index) => [name, index === 0 ? 'before the role' : 'with the role'] as const),
    );
    expect(restore({ preparesOnly }, { state })).toMatchObject({ result: { reason: 'move_restore' }, tries: 20 });
  });

  test('are prepared each in the order that works', () => {
    const mixed = { s1: 'before the role', s2: 'with the role' } as const;
    expect(restore({ preparesOnly: mixed }, { state: both })).toMatchObject({ result: RESTORED, tries: 3 });
  });

  test('among them the unnamed one', () => {
    const own = { preparesOnly: { unnamed: 'before the role' } } as const;
    expect(restore(own, { unnamed: UNNAMED })).toMatchObject({ result: RESTORED, tries: 2 });
  });

  test('fail when no order works, and at once without a role', () => {
    const never = { refuses: { sql: 'select $1::int', sqlState: '42501', message: 'no', times: 99 } };
    expect(restore(never)).toMatchObject({ result: { reason: 'move_restore', sqlState: '42501' }, tries: 3 });
    const plain = { ...STATE, role: 'none' };
    expect(restore(never, { state: plain })).toMatchObject({ result: { reason: 'move_restore' }, tries: 1 });
  });
});

describe('an unnamed statement that the server refuses', () => {
  const refuses = { sql: 'select 1', sqlState: '42P01', message: 'no such table', times: 99 };
  const noRows = { ...UNNAMED, description: { parameterTypes: [], resultColumns: undefined } };

  test('is left behind when it returns no rows: a server looks at it at a Bind alone', () => {
    const { result, log, tries } = restore({ refuses }, { unnamed: noRows });
    expect([result, tries]).toEqual([{ ...RESTORED, isUnnamedRefused: true }, 2]);
    expect(log.filter((line) => line.startsWith('P : '))).toHaveLength(1);
    expect(restore({ refuses }, { unnamed: { ...UNNAMED, description: undefined } }).result).toMatchObject({
      isUnnamedRefused: true,
    });
  });

  test('ends the move when the server ends the session with it', () => {
    const fatal = { ...refuses, severity: 'FATAL' } as const;
    expect(restore({ refuses: fatal }, { unnamed: noRows })).toMatchObject({
      result: { reason: 'move_restore' },
      tries: 1,
    });
  });

  test('ends the move when its encoding is refused', () => {
    const encoding = { sql: "set_config('client_encoding'", sqlState: '22023', message: 'no' };
    const { result } = restore({ refuses: encoding }, { unnamed: { ...UNNAMED, encoding: 'LATIN1' } });
    expect(result).toMatchObject({ why: 'the encoding: no' });
  });

  test('ends the move when it returns rows', () => {
    expect(restore({ refuses }, { unnamed: UNNAMED }).result).toMatchObject({
      reason: 'move_restore',
      why: 'the unnamed statement: no such table',
    });
  });
});

test('a limit of the session that ends our guard is no refusal: it is tried again, twenty times at most', () => {
  expect(restore(cut(1))).toMatchObject({ result: RESTORED, tries: 2 });
  expect(restore(cut(19))).toMatchObject({ result: RESTORED, tries: 20 });
  expect(restore(cut(99))).toMatchObject({ result: { reason: 'move_restore', sqlState: '57014' }, tries: 20 });
  const late = { refuses: { sql: 'session_user', sqlState: '57014', message: 'slow' } };
  expect(restore(late)).toMatchObject({ result: { reason: 'move_restore', why: 'the comparison: slow' }, tries: 1 });
});

test('the WAL of the server is told where it is asked for', () => {
  const wal = JSON.stringify(WAL);
  expect(restore({ wal }, { asksWal: true }).result).toMatchObject({ wal: { kind: 'standby', replayed: 5000 } });
  expect(restore({}, { asksWal: true }).result).toEqual(RESTORED);
  expect(restore({ wal }).result).toEqual(RESTORED);
});

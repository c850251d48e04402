import { describe, expect, test } from 'vitest';
import { shown } from '../../../src/model/printable.ts';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import { parseClusterDocument, parseNodeStatus } from '../../support/patroni/parse.ts';
import { readHistory } from '../../../src/patroni/history.ts';
import { parseLsn } from '../../../src/model/lsn.ts';
import { readNodeStatus } from '../../../src/patroni/node-status.ts';
import { parseTags } from '../../../src/patroni/tags.ts';

function status(document: Record<string, unknown>) {
  const parsed = readNodeStatus(document);
  if (parsed.kind !== 'status') throw new Error(parsed.why);
  return parsed.status;
}

function cluster(document: Record<string, unknown>) {
  const parsed = readClusterDocument(document);
  if (parsed.kind !== 'cluster') throw new Error(parsed.why);
  return parsed.cluster;
}

describe('role', () => {
  test.each([
    ['master', 'primary'],
    ['primary', 'primary'],
    ['standby leader', 'standby_leader'],
    ['standby-leader', 'standby_leader'],
    ['standby_leader', 'standby_leader'],
    ['sync_standby', 'replica'],
    ['demoted', 'demoted'],
    ['promoted', 'promoted'],
    ['uninitialized', 'uninitialized'],
    ['Primary', 'unknown'],
    ['constructor', 'unknown'],
    ['__proto__', 'unknown'],
    ['', 'unknown'],
    [1, 'unknown'],
    [{ role: 'primary' }, 'unknown'],
    [null, undefined],
    [undefined, undefined],
  ])('%j is %s', (role, expected) => {
    expect(status({ role }).role).toBe(expected);
  });
});

describe('scenario 19: positions', () => {
  test.each([
    [0, 0],
    [83_186_584, 83_186_584],
    ['83186584', 83_186_584],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [2 ** 53, 'invalid'],
    [2 ** 63, 'invalid'],
    [-1, 'invalid'],
    [1.5, 'invalid'],
    [Number.NaN, 'invalid'],
    [Number.POSITIVE_INFINITY, 'invalid'],
    ['unknown', 'invalid'],
    ['-1', 'invalid'],
    ['99999999999999999999', 'invalid'],
    [true, 'invalid'],
    [[], 'invalid'],
    [null, undefined],
    [undefined, undefined],
  ])('%j is %s', (position, expected) => {
    const read = status({ xlog: { location: position, received_location: position, replayed_location: position } });
    expect([read.location, read.received, read.replayed]).toEqual([expected, expected, expected]);
  });

  test('1e400 in the text is no position', () => {
    expect(parseNodeStatus('{"xlog":{"location":1e400}}')).toMatchObject({ status: { location: 'invalid' } });
  });

  test.each([null, 'x', [], 3])('an xlog of %j gives no position', (xlog) => {
    expect(status({ xlog })).toEqual({});
  });
});

describe('other fields', () => {
  test.each([
    [7, 7],
    ['7', 7],
    [2 ** 32 - 1, 2 ** 32 - 1],
    [0, undefined],
    [null, undefined],
  ])('timeline %j is %s', (timeline, expected) => {
    expect(status({ timeline }).timeline).toBe(expected);
  });

  test.each([2 ** 32, 9_007_199_254_740_991, '4294967296', 1e300, -1, 1.5, 'x', {}, [7], true])(
    'timeline %j is impossible: such an answer is no evidence',
    (timeline) => {
      expect(readNodeStatus({ role: 'primary', state: 'running', timeline })).toEqual({
        kind: 'invalid',
        why: 'with a timeline that no server can have',
      });
    },
  );

  test('timeline 0 is unknown on a replica, and no evidence on a primary', () => {
    expect(readNodeStatus({ role: 'replica', timeline: 0 })).toEqual({ kind: 'status', status: { role: 'replica' } });
    expect(readNodeStatus({ role: 'master', timeline: 0 }).kind).toBe('invalid');
  });

  test.each([
    ['running', 'running'],
    ['', ''],
    [5, 'unknown'],
    [{}, 'unknown'],
    [null, undefined],
  ])('state %j is %j', (state, expected) => {
    expect(status({ state }).state).toBe(expected);
  });

  test('the manager dialect', () => {
    expect(status({ manager: { version: '4.0.0', scope: 'batman' } })).toEqual({
      dialect: 'manager',
      scope: 'batman',
    });
  });

  test('flags count by presence, and are false when an old version sends false', () => {
    expect(status({ pause: true, cluster_unlocked: false, failsafe_mode_is_active: null })).toEqual({
      pause: true,
      clusterUnlocked: false,
    });
  });

  test('a number as system identifier is used only while it is exact', () => {
    expect(status({ database_system_identifier: 42 }).systemIdentifier).toBe('42');
    expect(parseNodeStatus('{"database_system_identifier":7710475087788450636}')).toEqual({
      kind: 'status',
      status: {},
    });
  });

  test('display text is one printable line', () => {
    expect(shown('a\r\nb\u2028\u0000c')).toBe('a b c');
    expect(status({ state: 'x'.repeat(1000) }).state).toHaveLength(128);
  });

  test('keys of Object are ordinary keys', () => {
    const parsed = parseNodeStatus(
      '{"__proto__":{"role":"primary"},"constructor":1,"tags":{"__proto__":{"zone":"a"},"b":1}}',
    );
    expect(parsed).toEqual({
      kind: 'status',
      status: {
        tags: new Map([
          ['__proto__', '(not a scalar)'],
          ['b', '1'],
        ]),
      },
    });
    expect(Object.hasOwn(Object.prototype, 'role')).toBe(false);
  });

  test.each(['', 'null', '[]', '"x"', '3', '{', '<html>', '\u0000'])('%j is no status document', (text) => {
    expect(parseNodeStatus(text).kind).toBe('invalid');
  });
});

describe('tags', () => {
  test('compare as in Patroni', () => {
    const read = parseTags({ a: 'X', b: true, c: 1, d: 1.5, e: null, f: false, g: ['x'], h: '' });
    expect([...(read?.tags ?? [])]).toEqual([
      ['a', 'X'],
      ['b', 'true'],
      ['c', '1'],
      ['d', '1.5'],
      ['e', 'none'],
      ['f', 'false'],
      ['g', '(not a scalar)'],
      ['h', ''],
    ]);
  });

  test('have limits of length and number: a text that is too long matches nothing', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`tag-${index}`, 'x']));
    const long = { ['k'.repeat(100_000)]: 1, zone: 'z'.repeat(100_000) };
    const read = parseTags({ ...long, ...many, noloadbalance: true });
    expect(read?.noloadbalance).toBe(true);
    expect([read?.tags.get('zone'), read?.tags.size]).toEqual(['(too long)', 128]);
  });

  test.each([
    [true, true],
    ['false', true],
    [1, true],
    [['x'], true],
    [{ a: 1 }, true],
    [false, false],
    [0, false],
    ['', false],
    [null, false],
    [[], false],
    [{}, false],
  ])('noloadbalance %j is %s', (value, expected) => {
    expect(parseTags({ noloadbalance: value })?.noloadbalance).toBe(expected);
  });

  test('are unknown without tags in the answer', () => {
    expect(parseTags(undefined)).toBeUndefined();
    expect(parseTags([])).toBeUndefined();
    expect(parseTags({})?.noloadbalance).toBeUndefined();
  });
});

describe('cluster document', () => {
  test('a bad member does not invalidate the document', () => {
    const read = cluster({ members: [null, { name: '' }, { name: 'a' }, 7, { name: 3 }, { name: 'b\n' }] });
    expect(read.members).toEqual([{ name: 'a', role: 'unknown', tags: new Map() }]);
    expect(read.skipped).toEqual([
      { name: 'member 1', why: 'not an object' },
      { name: 'member 2', why: 'no usable name' },
      { name: 'member 4', why: 'not an object' },
      { name: 'member 5', why: 'no usable name' },
      { name: 'member 6', why: 'no usable name' },
    ]);
  });

  test('fields of the wrong kind are left out of a member', () => {
    const entry = { name: 'a', role: 5, state: 1, api_url: null, host: 7, port: '5432x', timeline: null, tags: 'x' };
    expect(cluster({ members: [entry] }).members).toEqual([{ name: 'a', role: 'unknown', tags: new Map() }]);
  });

  test.each([
    [5432, 5432],
    ['5432', 5432],
    [65_535, 65_535],
    [65_536, undefined],
    [0, undefined],
    [-1, undefined],
    [54.32, undefined],
  ])('port %j is %s', (port, expected) => {
    expect(cluster({ members: [{ name: 'a', port }] }).members[0]?.port).toBe(expected);
  });

  test.each([
    ['leader', 'leader'],
    ['master', 'leader'],
    ['standby leader', 'standby_leader'],
    ['quorum_standby', 'quorum_standby'],
    ['toString', 'unknown'],
  ])('role %s is %s', (role, expected) => {
    expect(cluster({ members: [{ name: 'a', role }] }).members[0]?.role).toBe(expected);
  });

  test('a schedule without a readable time keeps its text', () => {
    expect(cluster({ members: [], scheduled_switchover: { at: 'soon' } }).scheduledSwitchover).toEqual({
      at: 'soon',
      atMs: undefined,
    });
    expect(cluster({ members: [], scheduled_switchover: 'soon' })).not.toHaveProperty('scheduledSwitchover');
  });

  test.each(['', '{}', '{"members":{}}', '[]', 'null', '{"state":"running"}'])('%j is none', (text) => {
    expect(parseClusterDocument(text).kind).toBe('invalid');
  });
});

test.each([
  ['0/0', 0],
  ['0/4F55398', 83_186_584],
  ['1/0', 2 ** 32],
  ['1FFFFF/FFFFFFFF', Number.MAX_SAFE_INTEGER],
  ['200000/0', undefined],
  ['0/', undefined],
  ['unknown', undefined],
  ['0/100000000', undefined],
  [' 0/1', undefined],
])('LSN %s is %s', (text, expected) => {
  expect(parseLsn(text)).toBe(expected);
});

test('history skips and counts unreadable entries', () => {
  expect(
    readHistory([[1, 2, 'x'], [2, 3, 'y', '2026-01-01T00:00:00Z', 'n1'], [], 5, [0, 1, 'z'], [3, '4', 'z', null, 7]]),
  ).toEqual({
    kind: 'history',
    entries: [
      { timeline: 1, lsn: 2, reason: 'x' },
      { timeline: 2, lsn: 3, reason: 'y', at: '2026-01-01T00:00:00Z', newLeader: 'n1' },
      { timeline: 3, lsn: 4, reason: 'z' },
    ],
    skipped: 3,
  });
  expect(readHistory({}).kind).toBe('invalid');
});

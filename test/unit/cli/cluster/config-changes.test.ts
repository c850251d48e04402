// KEY=VALUE, and the smallest PATCH between two configurations.
import { describe, expect, test } from 'vitest';
import { parseAssignments, patchBetween } from '../../../../src/cli/cluster/config-changes.ts';
import { unknownKeys } from '../../../../src/cli/cluster/config-values.ts';

describe('KEY=VALUE', () => {
  test.each<[readonly string[], unknown]>([
    [['ttl=20'], { ttl: 20 }],
    [['ttl=20', 'loop_wait=5'], { ttl: 20, loop_wait: 5 }],
    [['postgresql.parameters.max_connections=200'], { postgresql: { parameters: { max_connections: 200 } } }],
    [
      ['postgresql.parameters.work_mem=8MB', 'postgresql.use_slots=true'],
      { postgresql: { parameters: { work_mem: '8MB' }, use_slots: true } },
    ],
    [
      ['postgresql.parameters.auto_explain.log_min_duration=3s'],
      { postgresql: { parameters: { 'auto_explain.log_min_duration': '3s' } } },
    ],
    [['ttl='], { ttl: null }],
    [['ttl=null'], { ttl: null }],
    [['ttl=~'], { ttl: null }],
    [['ttl="20"'], { ttl: '20' }],
    [['a="x=y"'], { a: 'x=y' }],
    [['a=x=y'], { a: 'x=y' }],
    [['postgresql.parameters.jit=on'], { postgresql: { parameters: { jit: 'on' } } }],
    [['slots.reporting={type: physical}'], { slots: { reporting: { type: 'physical' } } }],
    [['postgresql.pg_hba=[local all all peer]'], { postgresql: { pg_hba: ['local all all peer'] } }],
    [[' ttl = 20 '], { ttl: 20 }],
    [['__proto__.polluted=1'], JSON.parse('{"__proto__":{"polluted":1}}')],
  ])('%j', (given, changes) => {
    expect(parseAssignments(given)).toEqual({ kind: 'config', config: changes });
  });

  test.each([
    [['ttl'], 'ttl has no "=": write ttl=VALUE, or ttl= to remove it'],
    [['=20'], '=20: the key has an empty part'],
    [['postgresql..x=1'], 'postgresql..x=1: the key has an empty part'],
    [['ttl=[1'], 'ttl=[1: the value is not valid YAML: put it in quotes'],
    [['ttl=12345678901234567890'], 'the number is too large to be sent exactly: put it in quotes, as a text'],
    [['ttl=.inf'], 'ttl=.inf: JSON has no such number'],
    [['ttl=1', 'ttl=2'], 'ttl=2 and ttl=1 set the same key'],
    [['postgresql=1', 'postgresql.use_slots=true'], 'postgresql.use_slots=true and postgresql=1 set the same key'],
  ])('%j is refused', (given, problem) => {
    expect(parseAssignments(given)).toEqual({ kind: 'invalid', problems: [expect.stringContaining(problem)] });
  });

  test('every wrong argument is named', () => {
    const parsed = parseAssignments(['ttl', 'ok=1', '.=2']);
    expect(parsed).toEqual({ kind: 'invalid', problems: [expect.any(String), expect.any(String)] });
  });
});

describe('the smallest PATCH', () => {
  test('is empty between equal configurations, whatever the order of their keys', () => {
    expect(patchBetween({ a: 1, b: { c: [1], d: 2 } }, { b: { d: 2, c: [1] }, a: 1 })).toEqual({});
  });

  test('names what changed and nothing else', () => {
    const before = { ttl: 30, postgresql: { parameters: { a: '1', b: '2' }, use_slots: true } };
    const after = { ttl: 30, postgresql: { parameters: { a: '1', b: '3' } }, pause: true };
    expect(patchBetween(before, after)).toEqual({
      postgresql: { use_slots: null, parameters: { b: '3' } },
      pause: true,
    });
  });

  test('a null in the edited text removes the key', () => {
    expect(patchBetween({ ttl: 30 }, { ttl: null })).toEqual({ ttl: null });
    expect(patchBetween({}, { ttl: null })).toEqual({});
  });
});

describe('keys that Patroni does not know', () => {
  test.each([
    [{ loop_wate: 5 }, 'Patroni knows no key loop_wate and would ignore it: did you mean loop_wait?'],
    [{ max_connections: 5 }, 'a PostgreSQL parameter is postgresql.parameters.max_connections'],
  ])('%j', (changes, warning) => {
    expect(unknownKeys({}, changes)).toEqual([expect.stringContaining(warning)]);
  });

  test('none for a known key, a removed one, and one that is there already', () => {
    expect(unknownKeys({ mine: 1 }, { ttl: 1, gone: null, mine: 2 })).toEqual([]);
  });
});

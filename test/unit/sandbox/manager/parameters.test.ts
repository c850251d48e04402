import { CLUSTER_WIDE_DEFAULTS } from '../../../../src/sandbox/postgres/settings-files.ts';
import { describe, expect, it } from 'vitest';
import { isUsable, usable } from '../../../../src/sandbox/manager/parameter-catalog.ts';
import type { Catalog, ParameterKind } from '../../../../src/sandbox/manager/parameter-catalog.ts';
import { composeParameters, isSame, raisedToPrimary } from '../../../../src/sandbox/manager/parameters.ts';

function kind(vartype: ParameterKind['vartype'], enumvals: string[] | null = null): ParameterKind {
  return { vartype, enumvals, context: 'user' };
}

describe('the parameters of a member', () => {
  it('its own file wins, except for values that all members share and parameters of the sandbox', () => {
    const parameters = composeParameters({
      dynamic: { max_connections: '100', work_mem: '4MB', port: '1' },
      local: { max_connections: '10', work_mem: '8MB', cluster_name: 'x' },
      synchronousStandbyNames: '',
    });
    expect(parameters).toEqual({
      ...CLUSTER_WIDE_DEFAULTS,
      max_connections: '100',
      work_mem: '8MB',
      synchronous_standby_names: '',
    });
  });

  it('is compared by names and values', () => {
    expect(isSame({ a: '1', b: '2' }, { b: '2', a: '1' })).toBe(true);
    expect(isSame({ a: '1' }, { a: '2' })).toBe(false);
    expect(isSame({ a: '1' }, { a: '1', b: '2' })).toBe(false);
  });
});

describe('a standby with values below those of its primary', () => {
  const log = 'DETAIL:  max_connections = 50 is a lower setting than on the primary server, where its value was 100.\n';

  it('starts with its original ones', () => {
    const wanted = { max_connections: '50', max_wal_senders: '4', work_mem: '1MB' };
    const original = { max_connections: '120', max_wal_senders: '10', work_mem: '4MB' };
    expect(raisedToPrimary(wanted, original, log)).toEqual({
      max_connections: '120',
      max_wal_senders: '10',
      work_mem: '1MB',
    });
  });

  it('without any, with the values in its log, also for an unset parameter', () => {
    expect(raisedToPrimary({ max_connections: '50' }, {}, log)).toEqual({ max_connections: '100' });
    const other = 'max_worker_processes = 8 is a lower setting than on the primary server, where its value was 16.';
    expect(raisedToPrimary({}, {}, other)).toEqual({ max_worker_processes: '16' });
  });

  it('cannot start if the log names no parameter', () => {
    expect(raisedToPrimary({ max_connections: '50' }, { max_connections: '100' }, 'PANIC')).toBeUndefined();
    expect(raisedToPrimary({ max_connections: '100' }, {}, log)).toBeUndefined();
  });
});

describe('a value that PostgreSQL would refuse at its start', () => {
  const catalog: Catalog = new Map([
    ['jit', kind('bool')],
    ['work_mem', kind('integer')],
    ['wal_sync_method', kind('enum', ['fsync', 'fdatasync'])],
    ['search_path', kind('string')],
    ['block_size', { ...kind('integer'), context: 'internal' }],
  ]);

  it.each([
    ['jit', 'off', true],
    ['jit', 'perhaps', false],
    ['work_mem', '64MB', true],
    ['work_mem', ' 1.5 GB ', true],
    ['work_mem', '0x400', true],
    ['work_mem', 'much', false],
    ['work_mem', '5 XB', false],
    ['wal_sync_method', 'FSYNC', true],
    ['wal_sync_method', 'never', false],
    ['search_path', 'a, b', true],
    ['block_size', '8192', false],
    ['no_such_parameter', '1', false],
    ['an_extension.setting', 'anything', true],
  ])('%s = %s is accepted: %s', (name, value, isTaken) => {
    expect(isUsable(name, value, catalog)).toBe(isTaken);
  });

  it('is left out, and every value is accepted before a server was queried', () => {
    const parameters = { jit: 'perhaps', work_mem: '4MB' };
    expect(usable(parameters, catalog)).toEqual({ work_mem: '4MB' });
    expect(usable(parameters, undefined)).toEqual(parameters);
  });
});

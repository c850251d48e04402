import { describe, expect, it } from 'vitest';
import { patched, replaced } from '../../../../src/sandbox/manager/config-change.ts';

const CONFIG = {
  ttl: 5,
  postgresql: { use_pg_rewind: false, parameters: { max_connections: '100', work_mem: '4MB' } },
};

describe('PATCH', () => {
  it('changes only the given keys, at every depth, and keeps values unchanged', () => {
    const changes = { loop_wait: 2, postgresql: { parameters: { max_connections: 150 } } };
    expect(patched(CONFIG, changes)).toEqual({
      kind: 'done',
      config: {
        ttl: 5,
        loop_wait: 2,
        postgresql: { use_pg_rewind: false, parameters: { max_connections: 150, work_mem: '4MB' } },
      },
    });
  });

  it('removes keys with null', () => {
    expect(patched(CONFIG, { ttl: null, postgresql: { parameters: { work_mem: null, absent: null } } })).toEqual({
      kind: 'done',
      config: { postgresql: { use_pg_rewind: false, parameters: { max_connections: '100' } } },
    });
  });

  it('creates an object where there was none, without its nulls', () => {
    expect(patched({}, { standby_cluster: { host: 'a', port: null } })).toEqual({
      kind: 'done',
      config: { standby_cluster: { host: 'a' } },
    });
  });
});

it('PUT removes the absent keys', () => {
  expect(replaced({ ttl: 7, anything: { at: ['all'] } })).toEqual({
    kind: 'done',
    config: { ttl: 7, anything: { at: ['all'] } },
  });
});

describe('refused, with the path and the reason', () => {
  it.each([
    [{ ttl: 'long' }, 'ttl must be a number, not "long"'],
    [{ ttl: 0 }, 'ttl must be more than 0, not 0'],
    [{ loop_wait: -1 }, 'loop_wait must be more than 0, not -1'],
    [{ retry_timeout: [] }, 'retry_timeout must be a number, not []'],
    [{ maximum_lag_on_failover: -5 }, 'maximum_lag_on_failover must not be negative, not -5'],
    [{ pause: 'perhaps' }, 'pause must be true or false, not "perhaps"'],
    [{ synchronous_mode: 'some' }, 'synchronous_mode must be true, false or quorum, not "some"'],
    [{ postgresql: 'fast' }, 'postgresql must be an object, not "fast"'],
    [{ postgresql: { parameters: [] } }, 'postgresql.parameters must be an object of names and values, not []'],
    [
      { postgresql: { parameters: { work_mem: { of: 1 } } } },
      'postgresql.parameters.work_mem must be a string, a number or a boolean, not {"of":1}',
    ],
  ])('%j', (changes, text) => {
    expect(patched(CONFIG, changes)).toEqual({ kind: 'invalid', text });
  });

  it('a parameter of the sandbox itself', () => {
    const change = patched(CONFIG, { postgresql: { parameters: { port: '1', jit: 'off' } } });
    expect(change).toMatchObject({ kind: 'invalid' });
    expect(change.kind === 'invalid' && change.text).toMatch(/^postgresql\.parameters\.port is fixed by the sandbox/);
  });
});

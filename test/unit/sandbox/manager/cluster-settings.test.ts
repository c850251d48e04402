import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG, readSettings } from '../../../../src/sandbox/manager/cluster-settings.ts';

it('has a default for everything', () => {
  expect(readSettings({})).toEqual({
    ttlMs: 5000,
    loopWaitMs: 1000,
    retryTimeoutMs: 2000,
    maximumLagOnFailover: 1_048_576,
    isPaused: false,
    isFailsafeMode: false,
    synchronousMode: 'off',
    standbyCluster: undefined,
    parameters: {},
  });
  expect(readSettings(DEFAULT_CONFIG)).toEqual({ ...readSettings({}), parameters: { max_connections: '100' } });
});

it('reads seconds, digits in a string and the words for true and false', () => {
  const settings = readSettings({ ttl: '30', loop_wait: 0.5, pause: 'on', failsafe_mode: true });
  expect(settings).toMatchObject({ ttlMs: 30_000, loopWaitMs: 500, isPaused: true, isFailsafeMode: true });
});

describe('synchronous_mode', () => {
  it.each([
    [true, 'on'],
    ['on', 'on'],
    ['quorum', 'quorum'],
    [false, 'off'],
    ['off', 'off'],
  ] as const)('%s is %s', (given, mode) => {
    expect(readSettings({ synchronous_mode: given }).synchronousMode).toBe(mode);
  });
});

it('knows a standby cluster by its key, with a source or without', () => {
  expect(readSettings({ standby_cluster: {} }).standbyCluster).toEqual({});
  const source = { host: '10.0.0.1', port: '5433', primary_slot_name: 'x' };
  expect(readSettings({ standby_cluster: source }).standbyCluster).toEqual({ host: '10.0.0.1', port: 5433 });
});

it('converts parameters to text, as PostgreSQL writes them, and leaves out invalid values', () => {
  const parameters = { Work_Mem: '4MB', max_connections: 50, jit: false, archive_mode: true, odd: null, list: [] };
  expect(readSettings({ postgresql: { parameters } }).parameters).toEqual({
    work_mem: '4MB',
    max_connections: '50',
    jit: 'off',
    archive_mode: 'on',
  });
});

it('keeps loop_wait + 2 * retry_timeout within ttl', () => {
  expect(readSettings({ ttl: 30, loop_wait: 10, retry_timeout: 10 })).toMatchObject({
    loopWaitMs: 10_000,
    retryTimeoutMs: 10_000,
  });
  expect(readSettings({ ttl: 30, loop_wait: 20, retry_timeout: 10 })).toMatchObject({ loopWaitMs: 10_000 });
  expect(readSettings({ ttl: 5, loop_wait: 10, retry_timeout: 10 })).toMatchObject({
    loopWaitMs: 1000,
    retryTimeoutMs: 2000,
  });
});

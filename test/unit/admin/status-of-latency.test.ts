// /status of a pool with `balance: latency`.
import { expect, test } from 'vitest';
import { sessionsDocument } from '../../../src/admin/status-of-pools.ts';
import { NO_COUNTS } from '../../support/values/status-source.ts';

test('what was observed of each member, in seconds, and its share', () => {
  const latency = new Map([
    ['pg-1', { requestMs: 0.25, loginMs: 3, share: 1 }],
    ['pg-2', { requestMs: undefined, loginMs: undefined, share: 0.5 }],
  ]);
  expect(sessionsDocument({ ...NO_COUNTS, latency }, 0).latency).toEqual({
    'pg-1': { request_seconds: 0.00025, login_seconds: 0.003, share: 1 },
    'pg-2': { request_seconds: null, login_seconds: null, share: 0.5 },
  });
  expect(sessionsDocument(NO_COUNTS, 0)).not.toHaveProperty('latency');
});

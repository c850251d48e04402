// /status of a pool with `balance: latency`.
import { expect, test } from 'vitest';
import { sessionsDocument } from '../../../src/admin/status-of-pools.ts';
import { NO_COUNTS } from '../../support/values/status-source.ts';

test('what was observed of each member, in seconds, its share, and all of it in words', () => {
  const latency = new Map([
    ['pg-1', { requestMs: 0.25, loginMs: 3, at: 1_000, share: 1 }],
    ['pg-2', { requestMs: undefined, loginMs: undefined, at: undefined, share: 0.5 }],
  ]);
  expect(sessionsDocument({ ...NO_COUNTS, latency }, 3_500).latency).toEqual({
    'pg-1': {
      request_seconds: 0.00025,
      login_seconds: 0.003,
      share: 1,
      last_seconds: 2.5,
      summary: 'replies in 0.25 ms, logins in 3 ms; new sessions at its full weight',
    },
    'pg-2': {
      request_seconds: null,
      login_seconds: null,
      share: 0.5,
      last_seconds: null,
      summary: 'not measured yet; new sessions at 50 % of its weight',
    },
  });
  expect(sessionsDocument(NO_COUNTS, 0)).not.toHaveProperty('latency');
});

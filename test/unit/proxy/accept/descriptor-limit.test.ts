import { expect, test } from 'vitest';
import { Admission } from '../../../../src/proxy/accept/admission.ts';
import { descriptorBudget } from '../../../../src/proxy/accept/descriptor-limit.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

test('two descriptors for each session and 1024 more are enough', () => {
  for (const sessions of [100, 1000, 5000, 50_000]) {
    expect(descriptorBudget({ limit: 2 * sessions + 1024, inUse: 40 }).sessions).toBeGreaterThanOrEqual(sessions);
  }
});

test.each([0, 64, 150, 190])('a limit of %i allows too few sessions for a start', (limit) => {
  expect(descriptorBudget({ limit, inUse: 30 }).sessions).toBeLessThan(16);
});

test.each([
  [256, 30, 16],
  [1_024, 326, 64],
  [4_096, 1_558, 256],
  [100_000, 49_510, 256],
])('a limit of %i allows %i sessions and %i over-limit connections', (limit, sessions, overLimit) => {
  expect(descriptorBudget({ limit, inUse: 20 })).toEqual({ limit, sessions, overLimit });
});

test('sessions and over-limit connections leave descriptors for probes and the admin port at every limit', () => {
  for (let limit = 256; limit < 20_000; limit += 111) {
    const { sessions, overLimit } = descriptorBudget({ limit, inUse: 30 });
    expect(limit - 30 - 2 * sessions - 2 * overLimit).toBeGreaterThanOrEqual(128);
  }
});

test('above the limit a client reads about the limit, and is no session', () => {
  const descriptors = { limit: 256, sessions: 1, overLimit: 1 };
  const admission = new Admission({ limits: () => ({ maxSessions: 9 }), clock: new ManualClock(), descriptors });
  const client = { bytesRead: () => 0, drop: () => {} };
  const kinds = [1, 2, 3].map(() => admission.admit('10.0.0.1', client));
  expect(kinds.map(({ kind }) => kind)).toEqual(['session', 'over_limit', 'none']);
  expect(kinds[1]?.exceededLimit).toBe('the limit on open files (256) allows 1 sessions');
});

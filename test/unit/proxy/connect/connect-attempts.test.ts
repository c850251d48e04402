import { expect, test } from 'vitest';
import type { Target } from '../../../../src/core/routing-table.ts';
import { ConnectAttempts } from '../../../../src/proxy/connect/connect-attempts.ts';

function target(member: string): Target {
  return { member, address: { host: member, port: 5432 } };
}

const THREE = [target('pg-1'), target('pg-2'), target('pg-3')] as const;

test('a member that failed is tried last', () => {
  const attempts = new ConnectAttempts(3);
  expect(attempts.failed('pg-2', 'refused', false, THREE)).toBe(0);
  expect(attempts.preferred(THREE).map(({ member }) => member)).toEqual(['pg-1', 'pg-3']);
});

test('after each failed, or the tries are used up, a pause begins and all may be tried again', () => {
  const [one, two] = THREE;
  const attempts = new ConnectAttempts(3);
  expect(attempts.failed('pg-1', 'refused', false, [one, two])).toBe(0);
  expect(attempts.failed('pg-2', 'refused', false, [one, two])).toBe(100);
  expect(attempts.preferred([one, two])).toEqual([one, two]);
  const few = new ConnectAttempts(2);
  expect([few.failed('pg-1', 'x', false, THREE), few.failed('pg-2', 'x', false, THREE)]).toEqual([0, 100]);
});

test('pauses double up to a second', () => {
  const attempts = new ConnectAttempts(1);
  const pauses = Array.from({ length: 6 }, () => attempts.failed('pg-1', 'refused', false, THREE));
  expect(pauses).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test('a local fault is not tried on another member', () => {
  expect(new ConnectAttempts(3).failed('pg-1', 'EMFILE', true, THREE)).toBe(100);
});

test('the last failure is available', () => {
  const attempts = new ConnectAttempts(3);
  expect(attempts.failure()).toBeUndefined();
  attempts.failed('pg-1', 'connection refused', false, THREE);
  expect(attempts.failure()).toEqual({ reason: 'connect_failed', detail: 'pg-1: connection refused' });
});

test('a server that cannot be reached any more has no words for the client', () => {
  const attempts = new ConnectAttempts(3);
  const words = Buffer.from('E');
  attempts.refused('pg-1', 'FATAL 53300', words, THREE);
  expect([attempts.failure()?.reason, attempts.words('backend_refused')]).toEqual(['backend_refused', words]);
  attempts.failed('pg-1', 'connection refused', false, THREE);
  expect([attempts.failure()?.reason, attempts.words('backend_refused')]).toEqual(['connect_failed', undefined]);
});

test('a member that refuses the client is tried last, too, and a refusal for another reason has no words of it', () => {
  const attempts = new ConnectAttempts(3);
  const words = Buffer.from('E');
  expect(attempts.lastRefusal()).toBeUndefined();
  expect(attempts.refused('pg-1', 'FATAL 57P03', words, THREE)).toBe(0);
  expect(attempts.lastRefusal()).toEqual({ member: 'pg-1', words });
  expect(attempts.words('connect_failed')).toBeUndefined();
});

test('the only member that is left is tried again, though it failed', () => {
  const attempts = new ConnectAttempts(3);
  attempts.failed('pg-1', 'refused', false, THREE);
  expect(attempts.preferred([THREE[0]])).toEqual([THREE[0]]);
});

test('a round has another member for the client while a connect is left, and a target that did not fail', () => {
  const [one, two] = THREE;
  const attempts = new ConnectAttempts(3);
  expect([attempts.left(), attempts.hasAnother('pg-1', [one]), attempts.hasAnother('pg-1', THREE)]).toEqual([
    3,
    false,
    true,
  ]);
  attempts.failed('pg-2', 'refused', false, THREE);
  expect([attempts.left(), attempts.hasAnother('pg-1', [one, two]), attempts.hasAnother('pg-1', THREE)]).toEqual([
    2,
    false,
    true,
  ]);
  attempts.failed('pg-1', 'refused', false, THREE);
  expect([attempts.left(), attempts.hasAnother('pg-1', THREE)]).toEqual([1, false]);
});

// The sentence about a request that was held back, with the command that a person can run.
import { expect, test } from 'vitest';
import { changesNothing, heldBackText } from '../../../../src/platform/computer/held-back.ts';

test.each([
  [
    '/switchover',
    { to: 'pg-2', transaction_timeout_ms: 10_000 },
    'pointsman switchover --to pg-2 --transaction-timeout 10s',
  ],
  ['/switchover', {}, 'pointsman switchover'],
  ['/pointsman/members/pg-2/drain', {}, 'pointsman drain pg-2'],
  ['/members/pg-2/resume', undefined, 'pointsman resume pg-2'],
  ['/refresh', {}, 'pointsman refresh'],
])('POST %s with %j', (path, body, command) => {
  const text = heldBackText({ method: 'POST', path, body });
  expect(text).toMatch(/^Held back, nothing was sent: POST \//);
  expect(text.endsWith(`A person runs: ${command}`)).toBe(true);
});

test.each([
  ['/operations/7/cancel', {}],
  ['/members/-f/drain', {}],
  ['/members/%24(id)/drain', {}],
  ['/switchover', { to: '--yes' }],
  ['/switchover', { to: 'pg-2; id' }],
])('POST %s with %j has no command', (path, body) => {
  expect(heldBackText({ method: 'POST', path, body })).toContain('A person does it on the page.');
});

test('a long body is cut', () => {
  expect(heldBackText({ method: 'POST', path: '/x', body: { a: 'b\u001b'.repeat(1000) } }).length).toBeLessThan(300);
});

test('reading changes nothing', () => {
  expect(['GET', 'HEAD', 'OPTIONS', 'POST', 'PATCH', 'PUT', 'DELETE'].filter(changesNothing)).toEqual([
    'GET',
    'HEAD',
    'OPTIONS',
  ]);
});

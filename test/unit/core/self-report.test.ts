// How long a member has reported the same of itself: a refused primary is accepted by that.
import { expect, test } from 'vitest';
import { nextSelfReport, type ReportedAnswer, type SelfReport } from '../../../src/core/self-report.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { aCheck, READ_CHECK, WRITE_CHECK } from '../../support/values/builders.ts';

const BODY: MemberStatus = { role: 'primary', state: 'running', timeline: 5, systemIdentifier: '77' };
const GAP_MS = 10_000;

function heard(at: number, change: Partial<ReportedAnswer> = {}): ReportedAnswer {
  return { check: aCheck(WRITE_CHECK), status: 200, body: BODY, at, ...change };
}

function next(second: ReportedAnswer): SelfReport {
  return nextSelfReport(nextSelfReport(undefined, heard(1000), GAP_MS), second, GAP_MS);
}

test('equal reports without a gap are one run', () => {
  const report = { systemIdentifier: '77', timeline: 5, isPrimary: true };
  expect(next(heard(10_999))).toEqual({ ...report, since: 1000, at: 10_999 });
  expect(next(heard(11_000)), 'after a gap').toEqual({ ...report, since: 11_000, at: 11_000 });
});

test.each<[string, Partial<ReportedAnswer>]>([
  ['another timeline', { body: { ...BODY, timeline: 6 } }],
  ['another system identifier', { body: { ...BODY, systemIdentifier: '78' } }],
  ['a no', { status: 503 }],
  ['a body of a replica, to another check', { check: aCheck(READ_CHECK), body: { ...BODY, role: 'replica' } }],
])('%s begins a new run', (_, change) => {
  expect(next(heard(2000, change)).since).toBe(2000);
});

test('only the checks for primaries make a member one, and another check keeps it one', () => {
  const other = heard(2000, { check: aCheck('/health') });
  expect(next(other)).toMatchObject({ isPrimary: true, since: 1000 });
  expect(nextSelfReport(undefined, other, GAP_MS).isPrimary).toBe(false);
  for (const [check, isPrimary] of [
    ['/leader', true],
    ['/read-only', false],
  ] as const) {
    expect(nextSelfReport(undefined, heard(1000, { check: aCheck(check) }), GAP_MS).isPrimary, check).toBe(isPrimary);
  }
  const body: MemberStatus = { ...BODY, role: 'standby_leader' };
  expect(nextSelfReport(undefined, heard(1000, { check: aCheck('/leader'), body }), GAP_MS).isPrimary).toBe(false);
});

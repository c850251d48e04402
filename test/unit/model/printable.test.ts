// Texts from members, as they appear in sentences.
import { expect, test } from 'vitest';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { judge } from '../../../src/core/verdict.ts';
import { aCheck, aList, answered, aPolicy, aSnapshot, READ_CHECK } from '../../support/values/builders.ts';

test.each(['scope', 'name', 'systemIdentifier'])(
  'a %s of another cluster is cut and on one line in the sentence',
  (field) => {
    const known: MemberStatus = { role: 'replica', scope: 'lab', name: 'pg-1', systemIdentifier: '7' };
    const forged: MemberStatus = { ...known, [field]: `x\r\nINFO: pool write: open\u2028${'y'.repeat(200)}` };
    const first = answered({ check: READ_CHECK, at: 10, status: 200, body: known });
    const snapshot = aSnapshot(aPolicy(), aList(0, 'pg-1'), first, {
      ...first,
      startedAt: 20,
      outcome: { kind: 'answered', status: 200, body: forged },
    });
    const detail = snapshot.members.get('pg-1')?.mismatch?.detail ?? '';
    expect(detail).toContain('x INFO: pool write: open yy');
    expect(detail.length).toBeLessThan(200);
  },
);

test('text of a member is cut and on one line in the sentence about it', () => {
  const body: MemberStatus = {
    role: 'replica',
    state: 'running',
    tags: new Map([['zone', `a\nINFO: forged ${'x'.repeat(1000)}`]]),
  };
  const { detail = '' } = judge(aCheck('/replica?tag_zone=b'), 503, body).why;
  expect(detail).toMatch(/^tag zone is a INFO: forged x{100,113}, expected b$/);
});

// Refused members are counted by reason, and named while they are refused.
import { expect, test } from 'vitest';
import { REFUSAL_REASONS } from '../../../src/model/member.ts';
import type { MemberRefusal } from '../../../src/model/member.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { aPolicy } from '../../support/values/builders.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aStatusSource, decidedAt } from '../../support/values/status-source.ts';

function lab(first: readonly MemberRefusal[]) {
  const decided = decidedAt(aPolicy(), 0);
  let refused = first;
  const source = aStatusSource({ ...decided, snapshot: () => ({ ...decided.snapshot(), refused }) });
  const metrics = createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source });
  const samples = async (name: string) =>
    withoutScope(await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`));
  return { samples, refuse: (now: readonly MemberRefusal[]) => (refused = now) };
}

test('every reason has a series from the start, and counts its members', async () => {
  const { samples, refuse } = lab([]);
  const counted = async () => {
    const lines = await samples('pointsman_members_refused');
    return new Map(lines.map((line) => [/reason="([^"]+)"/.exec(line)?.[1], Number(line.split(' ')[1])]));
  };
  expect(await counted()).toEqual(new Map(REFUSAL_REASONS.map((reason) => [reason, 0])));
  const stranger: MemberRefusal = { name: 'pg-9', reason: 'address', why: 'x' };
  refuse([stranger, stranger, { ...stranger, reason: 'duplicate' }]);
  expect(await counted()).toEqual(
    new Map(REFUSAL_REASONS.map((reason) => [reason, reason === 'address' ? 2 : reason === 'duplicate' ? 1 : 0])),
  );
  refuse([]);
  expect((await counted()).get('address')).toBe(0);
});

test('each is named until it is used or gone; a foreign text cannot break a line or fill the page', async () => {
  const stranger: MemberRefusal = { name: 'pg-"9\n', reason: 'address', why: 'x' };
  const { samples, refuse } = lab([stranger, { ...stranger, name: 'x'.repeat(1000), reason: 'too_many' }]);
  expect(await samples('pointsman_member_refused')).toEqual([
    String.raw`pointsman_member_refused{member="pg-\"9\n",reason="address"} 1`,
    `pointsman_member_refused{member="${'x'.repeat(63)}",reason="too_many"} 1`,
  ]);
  refuse(Array.from({ length: 500 }, (_, index) => ({ ...stranger, name: `pg-${index}` })));
  expect(await samples('pointsman_member_refused')).toHaveLength(100);
  refuse([]);
  expect(await samples('pointsman_member_refused')).toEqual([]);
});

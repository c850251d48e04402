// Refused members are counted by reason, never by their own texts.
import { expect, test } from 'vitest';
import { REFUSAL_REASONS } from '../../../src/model/member.ts';
import type { MemberRefusal } from '../../../src/model/member.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { aPolicy, aTable } from '../../support/values/builders.ts';

test('every reason has a series from the start, and counts its members', async () => {
  const table = aTable(aPolicy(), 0);
  const source = {
    now: () => 0,
    wallClock: () => 0,
    routingTable: () => table,
    counts: () => new Map(),
    lastAnswerAt: () => undefined,
    isUp: () => true,
    scope: () => 'lab',
    isDrained: () => false,
    certificate: () => undefined,
  };
  const metrics = createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], source });
  const refused = async () => {
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('pointsman_refused_members{'));
    return new Map(lines.map((line) => [/reason="([^"]+)"/.exec(line)?.[1], Number(line.split(' ')[1])]));
  };
  expect(await refused()).toEqual(new Map(REFUSAL_REASONS.map((reason) => [reason, 0])));
  const stranger: MemberRefusal = { name: 'pg-"9\n', reason: 'address', why: 'x' };
  metrics.count({ kind: 'members_refused', refused: [stranger, stranger, { ...stranger, reason: 'duplicate' }] });
  expect(await refused()).toEqual(
    new Map(REFUSAL_REASONS.map((reason) => [reason, reason === 'address' ? 2 : reason === 'duplicate' ? 1 : 0])),
  );
  metrics.count({ kind: 'members_refused', refused: [] });
  expect((await refused()).get('address')).toBe(0);
});

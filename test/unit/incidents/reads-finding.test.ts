// The finding about causal reads that were late, and the incident that they open.
import { expect, test } from 'vitest';
import type { LateResult } from '../../../src/reports/causal-reads.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { incidentLab } from '../../support/fakes/incident-lab.ts';

const late = (member: string, result: LateResult, count: number): ReportedEvent => ({
  kind: 'reads_late',
  pool: 'read',
  member,
  result,
  readsScope: 'cluster',
  count,
  why: `${member} is 1.2 MB behind pg-1.`,
});

test('late reads by member: how many, for how long, and their fates', async () => {
  const { clock, recorder, take } = incidentLab();
  take(late('pg-3', 'error', 1));
  for (let second = 0; second < 12; second += 1) {
    await clock.advance(1_000);
    take(late('pg-3', 'error', 2));
    take(late('pg-3', 'moved', 25));
  }
  take(late('pg-2', 'stale', 1));
  await clock.advance(20_000);
  const document = await recorder.get('2026-11-22-1', { isUnredacted: true });
  expect(document?.kinds).toEqual(['reads_late']);
  const findings = document?.findings.filter(({ finding }) => finding === 'reads_late');
  expect(findings).toMatchObject([
    {
      pool: 'read',
      member: 'pg-3',
      total: 325,
      moved: 300,
      refused: 25,
      stale: 0,
      seconds: 12,
      text: '325 reads of pool read were late on pg-3 for 12.00 s: 300 moved, 25 refused. pg-3 is 1.2 MB behind pg-1.',
    },
    {
      member: 'pg-2',
      total: 1,
      text: '1 read of pool read was late on pg-2: 1 ran all the same. pg-2 is 1.2 MB behind pg-1.',
    },
  ]);
  const ids = document?.events.filter(({ event }) => event === 'reads_late').map(({ id }) => id) ?? [];
  expect(ids).toHaveLength(3);
  expect(findings?.flatMap((one) => one.event_ids).toSorted()).toEqual(ids.toSorted());
  expect(document?.summary).toContain('many reads late: 325 reads late on pg-3, 1 read late on pg-2');
  expect(await recorder.text('2026-11-22-1', {})).toContain('(25 times, the last at ');
});

import { expect, it } from 'vitest';
import { mergeHistory } from '../../../../src/sandbox/manager/timeline-history.ts';

const NOW = new Date('2026-07-01T10:00:00.123Z');
const FIRST = { timeline: 1, endedAt: 0x3000148, reason: 'no recovery target specified' };

it('reports the time and the leader of a new timeline', () => {
  const text = '1\t0/3000148\tno recovery target specified\n';
  expect(mergeHistory(text, [], 'pg-2', NOW)).toEqual([
    { ...FIRST, createdAt: '2026-07-01T10:00:00.123000+00:00', newLeader: 'pg-2' },
  ]);
});

it('keeps its facts about older ones, and prefers the file where the two differ', () => {
  const known = [{ ...FIRST, createdAt: 'then', newLeader: 'pg-3' }];
  const text = '1\t0/3000148\tno recovery target specified\n\n2\t1/4000000\tno recovery target specified\n';
  const merged = mergeHistory(text, known, 'pg-1', NOW);
  expect(merged[0]).toEqual(known[0]);
  expect(merged[1]).toMatchObject({ timeline: 2, endedAt: 2 ** 32 + 0x4000000, newLeader: 'pg-1' });
  const other = mergeHistory('1\t0/5000000\tafter 2026\n', known, 'pg-1', NOW);
  expect(other).toMatchObject([{ endedAt: 0x5000000, reason: 'after 2026', newLeader: 'pg-1' }]);
});

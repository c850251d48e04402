// The history of timelines, read once a primary is on a new timeline, and the WAL positions that are kept beside it.
import { expect, it } from 'vitest';
import type { HistoryLine } from '../../../src/core/coverage.ts';
import type { MemberName } from '../../../src/model/member.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

interface Lab {
  readonly lab: LabMonitor;
  readonly asked: MemberName[];
  lines: readonly HistoryLine[] | undefined;
}

/** The primary is pg-1 on timeline 1. */
async function started(lines: readonly HistoryLine[] | undefined): Promise<Lab> {
  const lab = new LabMonitor();
  const one: Lab = { lab, asked: [], lines };
  lab.history = ({ name }) => {
    one.asked.push(name);
    return Promise.resolve(one.lines);
  };
  await lab.started();
  await lab.clock.advance(3_000);
  return one;
}

function failOver({ lab }: Lab): void {
  lab.set('pg-1', { role: 'dead' });
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  lab.leader = 'pg-2';
}

const LINE: HistoryLine = { timeline: 1, lsn: 400, newLeader: 'pg-2' };

it('is read once, from the new primary, when it says where the old timeline ended', async () => {
  const one = await started([LINE]);
  expect(one.asked).toEqual([]);
  failOver(one);
  await one.lab.clock.advance(30_000);
  expect(one.asked).toEqual(['pg-2']);
  expect(one.lab.monitor.wal().ends).toEqual({ timeline: 2, primary: 'pg-2', ends: new Map([[1, 400]]) });
});

it.each<[string, readonly HistoryLine[] | undefined]>([
  ['cannot be read', undefined],
  ['does not have the new timeline yet', []],
  ['is that of another member', [{ ...LINE, newLeader: 'pg-3' }]],
])('is read again, more and more seldom, while it %s', async (_, lines) => {
  const one = await started(lines);
  failOver(one);
  await one.lab.clock.advance(8_000);
  const early = one.asked.length;
  expect(early).toBeGreaterThanOrEqual(6);
  await one.lab.clock.advance(600_000);
  expect(one.asked.length).toBeLessThan(early + 20);
  expect(one.lab.monitor.wal().ends).toBeUndefined();
  one.lines = [LINE];
  await one.lab.clock.advance(70_000);
  expect(one.lab.monitor.wal().ends?.ends.get(1)).toBe(400);
});

it('is read again for the next timeline', async () => {
  const one = await started([LINE]);
  failOver(one);
  await one.lab.clock.advance(10_000);
  one.lines = [LINE, { timeline: 2, lsn: 600, newLeader: 'pg-1' }];
  one.lab.set('pg-2', { role: 'dead' });
  one.lab.set('pg-1', { role: 'primary', timeline: 3 });
  one.lab.leader = 'pg-1';
  await one.lab.clock.advance(10_000);
  expect(one.lab.monitor.wal().ends).toMatchObject({ timeline: 3, primary: 'pg-1' });
});

it('keeps the WAL positions of the lost primary', async () => {
  const one = await started([LINE]);
  failOver(one);
  await one.lab.clock.advance(10_000);
  const { samples } = one.lab.monitor.wal();
  expect(samples.get('pg-1')?.[0]).toMatchObject({ bytes: 500, run: { timeline: 1, startedAt: 'monday' } });
  expect(samples.get('pg-2')?.[0]?.run.timeline).toBe(2);
});

it('is not read, and nothing is kept, unless sessions need it', async () => {
  const one = await started([LINE]);
  const { lab } = one;
  lab.history = undefined;
  const before = lab.monitor.wal().samples;
  failOver(one);
  await lab.clock.advance(30_000);
  expect(one.asked).toEqual([]);
  expect(lab.monitor.wal()).toEqual({ samples: before, ends: undefined });
});

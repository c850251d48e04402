// A primary on a lower timeline in the monitor: the probes, the reports, and the operator's acceptance.
import { expect, it } from 'vitest';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

const REFUSAL =
  /^pg-1 claims to be primary with timeline 1, but timeline 2 was seen before; refused, .*pointsman accept timeline$/;

/** pg-2 was the primary on timeline 2; now pg-1 is it on timeline 1, and `follower` is the report of pg-2. */
async function takenBack(follower: 'replica' | 'silent'): Promise<LabMonitor> {
  const lab = await new LabMonitor().started();
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  lab.set('pg-1', { role: 'replica', timeline: 2 });
  lab.leader = 'pg-2';
  await lab.clock.advance(5000);
  expect(lab.writeRoute()).toBe('pg-2');
  lab.set('pg-1', { role: 'primary', timeline: 1 });
  lab.set('pg-2', { role: follower, timeline: 1 });
  lab.leader = 'pg-1';
  lab.events.length = 0;
  return lab;
}

function told(lab: LabMonitor, kind: string): readonly unknown[] {
  return lab.events.filter((event) => event.kind === kind);
}

it('gets sessions without a restart after every member has agreed on it for 30 s', async () => {
  const lab = await takenBack('replica');
  await lab.clock.advance(29_000);
  expect(lab.writeRoute()).toBe('hold');
  expect(told(lab, 'primary_refused')).toEqual([
    {
      kind: 'primary_refused',
      member: 'pg-1',
      refusal: 'timeline',
      text: expect.stringMatching(REFUSAL),
    },
  ]);
  await lab.clock.advance(10_000);
  expect(lab.writeRoute()).toBe('pg-1');
  expect(told(lab, 'primary_accepted')).toEqual([
    {
      kind: 'primary_accepted',
      member: 'pg-1',
      refusal: 'timeline',
      by: 'agreement',
      detail: 'timeline 1 instead of timeline 2',
    },
  ]);
  expect(lab.monitor.refusedPrimaries()).toEqual([]);
});

it('triggers a read of /cluster from another member every few seconds while it is refused', async () => {
  const lab = await takenBack('silent');
  await lab.clock.advance(20_000);
  const [from] = [lab.discoveries.length];
  await lab.clock.advance(60_000);
  const sought = lab.discoveries.slice(from).filter(({ not }) => not === 'pg-1');
  expect(sought.length).toBeGreaterThanOrEqual(11);
  expect(sought.length).toBeLessThanOrEqual(12);
  expect(lab.writeRoute(), 'silence is never agreement').toBe('hold');
});

it('gets sessions at once after an operator accepts it, and only a refused member can be accepted', async () => {
  const lab = await takenBack('silent');
  expect(lab.monitor.accept('timeline')).toEqual({ kind: 'impossible', refused: [] });
  await lab.clock.advance(20_000);
  expect(lab.monitor.accept('cluster_identity')).toEqual({ kind: 'impossible', refused: [] });
  expect(lab.writeRoute()).toBe('hold');
  expect(lab.monitor.accept('timeline')).toMatchObject({ kind: 'accepted', acceptance: { by: 'operator' } });
  expect(lab.writeRoute()).toBe('pg-1');
  expect(told(lab, 'primary_accepted')).toMatchObject([{ member: 'pg-1', by: 'operator' }]);
  expect(lab.monitor.accept('timeline')).toEqual({ kind: 'impossible', refused: [] });
});

it('an operator can accept one of two only after the other has left', async () => {
  const lab = await takenBack('silent');
  lab.set('pg-3', { role: 'primary', timeline: 1 });
  lab.monitor.refresh();
  await lab.clock.advance(20_000);
  expect(lab.monitor.accept('timeline')).toMatchObject({
    kind: 'impossible',
    refused: [{ member: 'pg-1' }, { member: 'pg-3' }],
  });
});

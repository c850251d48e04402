// Another policy while the monitor runs: the evidence stays, and an unsent check counts against no member.
import { expect, it } from 'vitest';
import { aPolicy, aPool, aWritePool } from '../../support/values/builders.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

it('decides by the new policy synchronously, and probes at the new pace', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(3000);
  lab.monitor.reconfigure(aPolicy({ probe: { intervalMs: 500 }, pools: [aWritePool(), aPool({ name: 'reports' })] }));
  expect([...lab.monitor.table().pools.keys()]).toEqual(['write', 'reports']);
  expect(lab.writeRoute()).toBe('pg-1');
  const from = lab.clock.now();
  await lab.clock.advance(5000);
  expect(lab.askedSince('pg-2', from)).toBe(10);
});

it('a new check evicts no member before its first probe, and is sent at once', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(3000);
  const read = aPool({ check: '/replica?lag=1MB', fallback: { pool: 'write', maxSessions: 50 } });
  lab.monitor.reconfigure(aPolicy({ pools: [aWritePool(), read] }));
  expect(lab.monitor.table().pools.get('read')?.standings.get('pg-2')).toMatchObject({
    kind: 'keep',
    why: { code: 'never_answered' },
  });
  expect(lab.actions).toEqual([]);
  await lab.clock.advance(1);
  expect(lab.monitor.table().pools.get('read')?.standings.get('pg-2')?.kind).toBe('open');
  // Sessions that came while no member had the new check drain from the primary.
  expect(lab.evictions('read')).toEqual(['pg-1 fallback_over drain']);
  expect(lab.writeRoute()).toBe('pg-1');
});

it('a check that was off for a while is not judged by its old answer', async () => {
  const lab = await new LabMonitor().started();
  const usual = aPolicy({ pools: [aWritePool()] });
  lab.monitor.reconfigure(aPolicy({ pools: [aWritePool({ check: '/leader' })] }));
  lab.monitor.reconfigure(usual);
  expect(lab.monitor.table().pools.get('write')?.standings.get('pg-1')?.kind).toBe('keep');
  await lab.clock.advance(1);
  expect(lab.writeRoute()).toBe('pg-1');
});

it('discovers members again at once; a missing one leaves although it answers', async () => {
  const lab = await new LabMonitor().started();
  lab.forgotten.add('pg-2');
  await lab.clock.advance(30_000);
  expect(lab.monitor.snapshot().members.has('pg-2'), 'no list alone drops a member that answers').toBe(true);
  expect(lab.actions).toEqual([]);
  lab.monitor.rediscover();
  await lab.clock.advance(1);
  expect(lab.monitor.snapshot().members.has('pg-2')).toBe(false);
  expect(lab.evictions('read')).toEqual(['pg-2 removed drain']);
});

it('a member that a new configuration’s first document omits stays if a later one names it in the grace', async () => {
  const lab = new LabMonitor();
  lab.origin = 'discovered';
  await lab.started();
  await lab.clock.advance(3000);
  lab.forgotten.add('pg-1');
  lab.monitor.rediscover();
  await lab.clock.advance(5000);
  expect(lab.writeRoute(), 'the primary is not evicted because one document lacks it').toBe('pg-1');
  expect(lab.actions).toEqual([]);
  lab.forgotten.clear();
  await lab.clock.advance(6000);
  lab.forgotten.add('pg-1');
  await lab.clock.advance(30_000);
  expect(lab.writeRoute()).toBe('pg-1');
  expect(lab.actions).toEqual([]);
});

it('a member that every document omits leaves at the end of the grace although it answers', async () => {
  const lab = new LabMonitor();
  lab.origin = 'discovered';
  await lab.started();
  lab.forgotten.add('pg-2');
  lab.monitor.rediscover();
  await lab.clock.advance(14_900);
  expect(lab.monitor.snapshot().members.has('pg-2')).toBe(true);
  await lab.clock.advance(200);
  expect(lab.monitor.snapshot().members.has('pg-2')).toBe(false);
  expect(lab.evictions('read')).toEqual(['pg-2 removed drain']);
});

it('an answer of the earlier discovery is ignored', async () => {
  const answers: PromiseWithResolvers<void>[] = [];
  const lab = new LabMonitor();
  await lab.started();
  lab.beforeDiscovery = async () => {
    const held = Promise.withResolvers<void>();
    answers.push(held);
    await held.promise;
  };
  await lab.clock.advance(11_000);
  expect(answers.length).toBe(1);
  lab.monitor.rediscover();
  await lab.clock.advance(1);
  expect(answers.length).toBe(2);
  answers[1]?.resolve();
  await lab.clock.advance(1);
  const known = lab.monitor.snapshot();
  answers[0]?.resolve();
  await lab.clock.advance(1);
  expect(lab.monitor.snapshot()).toBe(known);
});

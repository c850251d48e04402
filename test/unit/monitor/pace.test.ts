// The pace of the probes and of the reads of /cluster, and the triggers that raise it.
import { expect, it } from 'vitest';
import { aPolicy } from '../../support/values/builders.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

it('probes a steady member once a round, with one probe interval between rounds', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(3000);
  const from = lab.clock.now();
  await lab.clock.advance(10_000);
  expect(lab.askedSince('pg-1', from)).toBe(10);
  expect(lab.askedSince('pg-2', from)).toBe(10);
});

it('G20: probes at the urgent pace without a primary, backs off after a time, and then calms down', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { urgent: { intervalMs: 100, forMs: 5000 } } })).started();
  lab.set('pg-1', { role: 'dead' });
  await lab.clock.advance(1100);
  let from = lab.clock.now();
  await lab.clock.advance(1000);
  expect(lab.askedSince('pg-2', from)).toBeGreaterThanOrEqual(9);
  await lab.clock.advance(30_000);
  from = lab.clock.now();
  await lab.clock.advance(5000);
  expect(lab.askedSince('pg-2', from), 'two checks a round while one is sought').toBe(10);
  lab.set('pg-2', { role: 'promoting' });
  await lab.clock.advance(1100);
  from = lab.clock.now();
  await lab.clock.advance(1000);
  // For another member: the one in promotion is probed more often in any case.
  expect(lab.askedSince('pg-1', from), 'a promotion under way is news').toBeGreaterThanOrEqual(9);
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  lab.set('pg-1', { role: 'replica', timeline: 2 });
  await lab.clock.advance(5000);
  from = lab.clock.now();
  await lab.clock.advance(10_000);
  expect(lab.askedSince('pg-2', from)).toBe(10);
});

it('probes the member in promotion four times as often as the others, for two seconds', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { urgent: { intervalMs: 100, forMs: 30_000 } } })).started();
  lab.set('pg-1', { role: 'dead' });
  await lab.clock.advance(1100);
  lab.set('pg-2', { role: 'promoting' });
  await lab.clock.advance(200);
  let from = lab.clock.now();
  await lab.clock.advance(1000);
  expect([lab.askedSince('pg-2', from), lab.askedSince('pg-1', from)], 'two checks a round').toEqual([80, 10]);
  await lab.clock.advance(1000);
  from = lab.clock.now();
  await lab.clock.advance(1000);
  expect(lab.askedSince('pg-2', from)).toBe(20);
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  await lab.clock.advance(110);
  expect(lab.writeRoute()).toBe('pg-2');
});

it('probes a primary that starts in place four times as often, for two seconds from its start', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { urgent: { intervalMs: 100, forMs: 3000 } } })).started();
  lab.set('pg-1', { state: 'restarting' });
  await lab.clock.advance(1100);
  let from = lab.clock.now();
  await lab.clock.advance(1000);
  expect(lab.askedSince('pg-1', from), 'while it stops').toBe(10);
  await lab.clock.advance(20_000);
  lab.set('pg-1', { state: 'starting' });
  await lab.clock.advance(1100);
  from = lab.clock.now();
  await lab.clock.advance(500);
  expect([lab.askedSince('pg-1', from), lab.askedSince('pg-2', from)], 'pg-2: two checks a round').toEqual([20, 10]);
  await lab.clock.advance(1500);
  from = lab.clock.now();
  await lab.clock.advance(500);
  expect(lab.askedSince('pg-1', from)).toBe(5);
  lab.monitor.stop();
});

it('keeps its pace for a replica that starts', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { urgent: { intervalMs: 100, forMs: 3000 } } })).started();
  lab.set('pg-2', { state: 'starting' });
  await lab.clock.advance(2000);
  const from = lab.clock.now();
  await lab.clock.advance(1000);
  expect(lab.askedSince('pg-2', from)).toBeLessThanOrEqual(2);
  lab.monitor.stop();
});

it('a vouched member gets no probe before each session: each writer would wait for its time-out', async () => {
  const lab = await new LabMonitor().started();
  lab.set('pg-1', { role: 'silent' });
  await lab.clock.advance(7000);
  expect(lab.monitor.table().pools.get('write')?.standings.get('pg-1')).toMatchObject({
    kind: 'open',
    why: { code: 'vouched' },
  });
  expect(lab.monitor.freshen('write')).toBeUndefined();
  lab.set('pg-1', { role: 'primary' });
  await lab.clock.advance(2000);
  lab.clock.stall(1001);
  expect(lab.monitor.freshen('write'), 'one that answers is').toBeInstanceOf(Promise);
});

it('probes a member soon after its server ended a session, but not for each of many', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(3000);
  const from = lab.clock.now();
  for (let ended = 0; ended < 100; ended += 1) {
    lab.monitor.trigger({ kind: 'backend_closed', member: 'pg-1' });
    await lab.clock.advance(10);
  }
  expect(lab.askedSince('pg-1', from)).toBeGreaterThanOrEqual(9);
  expect(lab.askedSince('pg-1', from)).toBeLessThanOrEqual(11);
});

it('many clients with an end by their server share one probe per urgent interval', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(3000);
  const from = lab.clock.now();
  let routed = 0;
  for (let times = 0; times < 200; times += 1) {
    lab.monitor.trigger({ kind: 'backend_closed', member: 'pg-1' });
    void lab.monitor.freshen('write')?.then(() => (routed += 1));
    await lab.clock.advance(5);
  }
  expect(lab.askedSince('pg-1', from)).toBeLessThanOrEqual(11);
  await lab.clock.advance(250);
  expect(routed, 'each of them was answered').toBe(200);
});

it('a client that waits for a probe gets its answer when the member leaves', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(50);
  lab.monitor.trigger({ kind: 'backend_closed', member: 'pg-1' });
  const asked = lab.monitor.freshen('write');
  expect(asked).toBeDefined();
  lab.monitor.stop();
  await asked;
});

it('a hint from outside: /cluster is read and every member probed at once, then the pace is as before', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(8000);
  const [from, reads] = [lab.clock.now(), lab.discoveries.length];
  await lab.clock.advance(50);
  expect([lab.askedSince('pg-1', from), lab.discoveries.length - reads]).toEqual([0, 0]);
  lab.monitor.hint();
  await lab.clock.advance(100);
  expect([lab.askedSince('pg-1', from), lab.askedSince('pg-2', from)]).toEqual([1, 1]);
  expect(lab.discoveries.length - reads).toBe(1);
  await lab.clock.advance(9000);
  expect(lab.askedSince('pg-1', from)).toBe(10);
});

it('reads /cluster at a slow pace and soon after a change of route', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(5000);
  const calm = lab.discoveries.length;
  await lab.clock.advance(20_000);
  expect(lab.discoveries.length - calm).toBe(2);
  lab.set('pg-1', { role: 'dead' });
  await lab.clock.advance(2200);
  expect(lab.discoveries.length - calm).toBeGreaterThanOrEqual(3);
});

it('probes urgently when a scheduled switchover is due', async () => {
  const lab = new LabMonitor();
  lab.scheduledSwitchoverAt = lab.clock.now() + 20_000;
  await lab.started();
  await lab.clock.advance(15_000);
  expect(lab.events.some((event) => event.kind === 'urgent_probing')).toBe(false);
  await lab.clock.advance(4500);
  expect(lab.events).toContainEqual({ kind: 'urgent_probing', on: true, triggers: ['scheduled_switchover'] });
});

it('a refresh probes every member and reads /cluster at once, and goes on at the urgent pace', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { intervalMs: 4000, writeMaxAgeMs: 9000 } })).started();
  await lab.clock.advance(4100);
  const [from, reads] = [lab.clock.now(), lab.discoveries.length];
  lab.set('pg-1', { role: 'replica' });
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  expect(lab.monitor.refresh()).toBe(true);
  await lab.clock.advance(1);
  expect([lab.askedSince('pg-1', from - 1), lab.askedSince('pg-2', from - 1)]).toEqual([2, 1]);
  expect(lab.discoveries.length).toBe(reads + 1);
  expect(lab.writeRoute()).toBe('pg-2');
  await lab.clock.advance(1000);
  expect(lab.askedSince('pg-2', from)).toBeGreaterThanOrEqual(9);
});

it('a refresh during a read of /cluster causes one more read: the first answer may be too old', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(5000);
  const answer = Promise.withResolvers<void>();
  lab.beforeDiscovery = () => answer.promise;
  lab.monitor.refresh();
  await lab.clock.advance(1500);
  const reads = lab.discoveries.length;
  lab.monitor.refresh();
  await lab.clock.advance(500);
  expect(lab.discoveries.length, 'one at a time').toBe(reads);
  answer.resolve();
  await lab.clock.advance(10);
  expect(lab.discoveries.length).toBe(reads + 1);
  await lab.clock.advance(5000);
  expect(lab.discoveries.length, 'and no more than once').toBe(reads + 1);
});

it('many refreshes are merged, and do not keep the pace urgent forever', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { urgent: { intervalMs: 100, forMs: 5000 } } })).started();
  await lab.clock.advance(5000);
  const asked: boolean[] = [];
  for (let calls = 0; calls < 600; calls += 1) {
    asked.push(lab.monitor.refresh());
    await lab.clock.advance(100);
  }
  expect(asked.filter(Boolean).length).toBe(60);
  const from = lab.clock.now();
  for (let calls = 0; calls < 100; calls += 1) {
    lab.monitor.refresh();
    await lab.clock.advance(100);
  }
  expect(lab.askedSince('pg-2', from)).toBeLessThanOrEqual(20);
  expect(lab.discoveries.length, 'nor is /cluster read more than once a second').toBeLessThanOrEqual(80);
});

it('probes a silent member at the urgent pace, alone, until its silence counts, and then the others once', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { silentProbes: 3 } })).started();
  await lab.clock.advance(3000);
  const from = lab.clock.now();
  lab.set('pg-2', { role: 'vanished' });
  await lab.clock.advance(1200);
  expect([lab.askedSince('pg-2', from), lab.askedSince('pg-1', from)]).toEqual([3, 2]);
  expect(lab.evictions('read')).toEqual(['pg-2 silent close']);
  await lab.clock.advance(3000);
  expect(lab.askedSince('pg-2', from)).toBe(6);
});

it('probes a member soon after a slow connect', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(3000);
  const from = lab.clock.now();
  lab.monitor.trigger({ kind: 'connect_slow', member: 'pg-2' });
  await lab.clock.advance(100);
  expect([lab.askedSince('pg-2', from), lab.askedSince('pg-1', from)]).toEqual([1, 0]);
});

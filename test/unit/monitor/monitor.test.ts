import { expect, it } from 'vitest';
import { aPolicy } from '../../support/values/builders.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

it('G13: routes no session before the first complete round, then routes to the primary', async () => {
  const lab = new LabMonitor();
  expect(lab.writeRoute()).toBe('hold');
  await lab.started();
  expect(lab.writeRoute()).toBe('pg-1');
  expect(lab.monitor.table().complete).toBe(true);
});

it('reads the list again after a second while a cluster that begins has no member in it', async () => {
  const lab = new LabMonitor();
  for (const name of lab.members.keys()) lab.forgotten.add(name);
  await lab.started();
  lab.forgotten.clear();
  await lab.clock.advance(1_100);
  expect(lab.writeRoute()).toBe('pg-1');
});

it('evicts synchronously with the answer no, and opens the new primary after its proof', async () => {
  const lab = await new LabMonitor().started();
  lab.set('pg-1', { role: 'replica' });
  lab.set('pg-2', { role: 'promoting' });
  await lab.clock.advance(1100);
  expect(lab.evictions('write')).toEqual(['pg-1 demoted close']);
  expect(lab.writeRoute()).toBe('hold');
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  await lab.clock.advance(110);
  expect(lab.writeRoute()).toBe('pg-2');
});

it('scenario 4: routes nowhere in thirty seconds of a promotion, and to the new primary within a tick', async () => {
  const lab = await new LabMonitor().started();
  lab.set('pg-1', { role: 'dead' });
  lab.set('pg-2', { role: 'promoting' });
  await lab.clock.advance(1100);
  for (let second = 0; second < 30; second += 1) {
    expect(lab.writeRoute()).toBe('hold');
    await lab.clock.advance(1000);
  }
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  await lab.clock.advance(210);
  expect(lab.writeRoute()).toBe('pg-2');
});

it('keeps a silent primary that another member vouches for beyond the silence grace', async () => {
  const lab = await new LabMonitor().started();
  lab.set('pg-1', { role: 'silent' });
  await lab.clock.advance(60_000);
  expect(lab.writeRoute()).toBe('pg-1');
  expect(lab.actions).toEqual([]);
  const vouches = lab.discoveries.filter(({ not }) => not === 'pg-1');
  expect(vouches.length, 'not at probe rate').toBeLessThan(60_000 / 2000);
});

it('G4: closes the sessions of a silent primary at the silence grace without a vouch', async () => {
  const lab = await new LabMonitor().started();
  const from = lab.clock.now();
  lab.set('pg-1', { role: 'silent' });
  lab.leader = undefined;
  await lab.clock.advance(5000);
  expect(lab.writeRoute(), 'new sessions need fresh evidence').toBe('hold');
  expect(lab.actions).toEqual([]);
  await lab.clock.advance(15_000 - 5000);
  expect(lab.evictions('write')).toEqual(['pg-1 silent close']);
  expect(lab.clock.now() - from).toBeLessThanOrEqual(15_000);
});

it('freshen probes the open member again only if its evidence is older than an interval', async () => {
  const lab = await new LabMonitor(aPolicy({ probe: { intervalMs: 1000 } })).started();
  const from = lab.clock.now();
  await lab.monitor.freshen('write');
  expect(lab.askedSince('pg-1', from - 1)).toBe(0);
  lab.hold('pg-1');
  await lab.clock.advance(1500);
  const isFresh = lab.monitor.freshen('write')?.then(() => lab.askedSince('pg-1', from));
  await lab.clock.advance(1);
  lab.letGo('pg-1');
  expect(await isFresh, 'it waits for the round under way').toBe(1);
});

it('freshen accepts no evidence from before the server ended a session', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(200);
  lab.set('pg-1', { role: 'replica' });
  lab.monitor.trigger({ kind: 'backend_closed', member: 'pg-1' });
  expect(lab.writeRoute()).toBe('pg-1');
  await lab.monitor.freshen('write');
  expect(lab.writeRoute()).toBe('hold');
});

it('a write session that met a standby: earlier evidence is void, and probing is urgent', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(5000);
  const from = lab.clock.now();
  lab.monitor.trigger({ kind: 'landed_on_standby', member: 'pg-1', isPooler: true });
  await lab.clock.advance(1000);
  expect(lab.askedSince('pg-1', from)).toBeGreaterThanOrEqual(5);
  lab.set('pg-1', { role: 'replica' });
  lab.monitor.trigger({ kind: 'landed_on_standby', member: 'pg-1', isPooler: true });
  const asked = lab.monitor.freshen('write');
  await lab.clock.advance(100);
  await asked;
  expect(lab.writeRoute()).toBe('hold');
});

it('a pooler repeats an old word while the API proves a primary: one log line, and no more sessions end', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(5000);
  for (let times = 0; times < 3; times += 1) {
    lab.monitor.trigger({ kind: 'landed_on_standby', member: 'pg-1', isPooler: true });
    await lab.clock.advance(1000);
  }
  expect(lab.monitor.table().pools.get('write')?.route).toMatchObject({ targets: [{ isStandbyReportStale: true }] });
  const said = lab.events.filter(({ kind }) => kind === 'standby_report_stale');
  expect(said).toEqual([{ kind: 'standby_report_stale', member: 'pg-1' }]);
});

it('a server that is in recovery itself: clients wait, and one tries it every two seconds', async () => {
  const lab = await new LabMonitor().started();
  await lab.clock.advance(5000);
  lab.monitor.trigger({ kind: 'landed_on_standby', member: 'pg-1', isPooler: false });
  await lab.clock.advance(1900);
  const route = () => lab.monitor.table().pools.get('write')?.route;
  expect(route()).toEqual({ kind: 'hold', cause: 'in_recovery' });
  await lab.clock.advance(200);
  expect(route()).toMatchObject({ targets: [{ member: 'pg-1', isTrial: true }] });
  lab.monitor.trigger({ kind: 'left_recovery', member: 'pg-1' });
  expect(route()).toMatchObject({ targets: [{ member: 'pg-1' }] });
  expect(route()).not.toMatchObject({ targets: [{ isTrial: true }] });
});

it('holds new clients of the primary before a scheduled switchover, after a second read of the plan', async () => {
  const lab = new LabMonitor(aPolicy({ beforeSwitchoverMs: 2000 }));
  const at = lab.clock.now() + 19_000;
  lab.scheduledSwitchoverAt = at;
  await lab.started();
  await lab.clock.advance(at - 3500 - lab.clock.now());
  const reads = lab.discoveries.length;
  await lab.clock.advance(1400);
  expect(lab.discoveries.length, 'read once more before anything follows').toBe(reads + 1);
  expect(lab.writeRoute()).toBe('pg-1');
  await lab.clock.advance(200);
  expect(lab.monitor.table().pools.get('write')?.route).toEqual({ kind: 'hold', cause: 'switchover' });
  expect(lab.actions).toEqual([]);
  lab.set('pg-1', { role: 'replica' });
  lab.set('pg-2', { role: 'primary', timeline: 2 });
  lab.leader = 'pg-2';
  lab.scheduledSwitchoverAt = undefined;
  await lab.clock.advance(200);
  expect(lab.writeRoute()).toBe('pg-2');
  await lab.clock.advance(60_000);
  expect(lab.writeRoute()).toBe('pg-2');
});

it('does not hold for a switchover that was taken back in time', async () => {
  const lab = new LabMonitor(aPolicy({ beforeSwitchoverMs: 2000 }));
  const at = lab.clock.now() + 19_000;
  lab.scheduledSwitchoverAt = at;
  await lab.started();
  await lab.clock.advance(at - 3500 - lab.clock.now());
  lab.scheduledSwitchoverAt = undefined;
  await lab.clock.advance(10_000);
  expect(
    lab.events.some(
      (event) => event.kind === 'route_changed' && event.to.kind === 'hold' && event.to.cause === 'switchover',
    ),
  ).toBe(false);
});

it('G22: a switchover that is taken back while clients wait for it releases them within two seconds', async () => {
  const lab = new LabMonitor(aPolicy({ beforeSwitchoverMs: 2000 }));
  const at = lab.clock.now() + 19_000;
  lab.scheduledSwitchoverAt = at;
  await lab.started();
  await lab.clock.advance(at - 1900 - lab.clock.now());
  expect(lab.writeRoute()).toBe('hold');
  lab.scheduledSwitchoverAt = undefined;
  await lab.clock.advance(1100);
  expect(lab.writeRoute()).toBe('pg-1');
  const reads = lab.discoveries.length;
  await lab.clock.advance(8000);
  expect(lab.discoveries.length - reads, 'and the list is read at the usual pace').toBeLessThan(3);
});

it('a switchover that never comes is watched until it is overdue, and no longer', async () => {
  const lab = new LabMonitor(aPolicy({ beforeSwitchoverMs: 2000 }));
  const at = lab.clock.now() + 19_000;
  lab.scheduledSwitchoverAt = at;
  await lab.started();
  await lab.clock.advance(at + 15_500 - lab.clock.now());
  expect(lab.writeRoute()).toBe('pg-1');
  const reads = lab.discoveries.length;
  await lab.clock.advance(30_000);
  expect(lab.discoveries.length - reads).toBeLessThan(5);
});

it('a drain acts synchronously, survives a temporary absence of the member, and is resumed by name', async () => {
  const lab = await new LabMonitor().started();
  expect(lab.monitor.drain('pg-9')).toBe(false);
  expect(lab.monitor.resume('pg-9')).toBe(false);
  expect(lab.monitor.drain('pg-1')).toBe(true);
  expect(lab.evictions('write')).toEqual(['pg-1 operator close']);
  expect(lab.monitor.table().pools.get('write')?.route).toEqual({ kind: 'hold', cause: 'drained' });
  expect(lab.events).toContainEqual({ kind: 'member_drained', member: 'pg-1' });
  const was = lab.members.get('pg-1');
  lab.members.delete('pg-1');
  await lab.clock.advance(60_000);
  expect(lab.monitor.snapshot().members.has('pg-1')).toBe(false);
  lab.set('pg-1', was ?? {});
  await lab.clock.advance(20_000);
  expect(lab.writeRoute()).toBe('hold');
  expect(lab.monitor.resume('pg-1')).toBe(true);
  expect(lab.writeRoute()).toBe('pg-1');
});

it('reports members that may not be contacted, once for each change', async () => {
  const lab = await new LabMonitor().started();
  const told = () => lab.events.flatMap((event) => (event.kind === 'members_refused' ? [event.refused] : []));
  await lab.clock.advance(25_000);
  expect(told()).toEqual([]);
  lab.refused = [{ name: 'pg-9', reason: 'postgres_port', why: 'port 22 is not allowed' }];
  await lab.clock.advance(25_000);
  expect(told()).toEqual([lab.refused]);
  lab.refused = [];
  await lab.clock.advance(12_000);
  expect(told().at(-1)).toEqual([]);
});

it('scenario 27: probes a joining member, and stops the probes of a leaving one', async () => {
  const lab = await new LabMonitor().started();
  lab.set('pg-3', { role: 'replica' });
  await lab.clock.advance(11_000);
  expect(lab.asked.has('pg-3')).toBe(true);
  expect(lab.events).toContainEqual({ kind: 'members_changed', added: ['pg-3'], removed: [] });
  lab.members.delete('pg-3');
  await lab.clock.advance(40_000);
  expect(lab.events).toContainEqual({ kind: 'members_changed', added: [], removed: ['pg-3'] });
  const from = lab.clock.now();
  await lab.clock.advance(5000);
  expect(lab.askedSince('pg-3', from)).toBe(0);
});

it('stops without a remaining timer', async () => {
  const lab = await new LabMonitor().started();
  lab.monitor.stop();
  expect(lab.clock.pending()).toBe(0);
});

it('scenario 41: after a stall decideIfDue() decides by the current ages, before a timer runs', async () => {
  const lab = await new LabMonitor().started();
  lab.clock.stall(60_000);
  lab.monitor.decideIfDue();
  expect(lab.writeRoute()).toBe('hold');
  expect(lab.evictions('write')).toEqual(['pg-1 silent close']);
  await lab.clock.advance(1_000);
  expect(lab.writeRoute()).toBe('pg-1');
});

it('scenario 41: a stall within the ages changes nothing', async () => {
  const lab = await new LabMonitor().started();
  lab.clock.stall(4_000);
  expect(lab.writeRoute()).toBe('pg-1');
  await lab.clock.advance(1_000);
  expect(lab.writeRoute()).toBe('pg-1');
  expect(lab.evictions('write')).toEqual([]);
});

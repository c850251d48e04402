import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/core/actions.ts';
import { Decider } from '../../../src/monitor/decider.ts';
import { aPolicy } from '../../support/values/builders.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

/** A decider with the same clock over the current snapshot of a monitor; it gets no updates. */
async function aDecider() {
  const lab = await new LabMonitor().started();
  const actions: Action[] = [];
  const known = { policy: aPolicy(), snapshot: lab.monitor.snapshot() };
  lab.monitor.stop();
  const decider = new Decider({ known: () => known, clock: lab.clock, onTable: (more) => actions.push(...more) });
  decider.decide();
  return { clock: lab.clock, known, decider, actions, table: lab.monitor.table() };
}

test('decides like the monitor with the same snapshot', async () => {
  const { decider, table } = await aDecider();
  expect(decider.table().pools).toEqual(table.pools);
});

test('G2, G4: evidence expires where it is used: new sessions hold, live ones end, even without updates', async () => {
  const { clock, decider, actions } = await aDecider();
  expect(decider.table().pools.get('write')?.route.kind).toBe('open');
  await clock.advance(5000);
  expect(decider.table().pools.get('write')?.route).toEqual({ kind: 'hold', cause: 'no_member' });
  expect(actions).toEqual([]);
  await clock.advance(10_000);
  expect(actions.map(({ pool, member, cause, mode }) => [pool, member, cause, mode])).toContainEqual([
    'write',
    'pg-1',
    'silent',
    'close',
  ]);
});

test('decideIfDue() makes a decision that a stall delayed; a read of the table does not', async () => {
  const { clock, decider } = await aDecider();
  clock.stall(5000);
  expect(decider.table().pools.get('write')?.route.kind).toBe('open');
  decider.decideIfDue();
  expect(decider.table().pools.get('write')?.route.kind).toBe('hold');
});

test('what a late decision and a stall leave behind does not belong to the session that called', async () => {
  const lab = await new LabMonitor().started();
  const known = { policy: aPolicy(), snapshot: lab.monitor.snapshot() };
  lab.monitor.stop();
  const callers = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const see = (what: string): void => void seen.push(`${what} of ${callers.getStore() ?? 'nobody'}`);
  const schedule = (...wanted: Parameters<typeof lab.clock.schedule>) => {
    see('timer');
    return lab.clock.schedule(...wanted);
  };
  const clock = { now: () => lab.clock.now(), schedule };
  const decider = new Decider({ known: () => known, clock, onTable: () => see('table'), onStall: () => see('stall') });
  decider.decide();
  lab.clock.stall(5000);
  seen.length = 0;
  callers.run('a session', () => decider.decideIfDue());
  expect(new Set(seen)).toEqual(new Set(['timer of nobody', 'stall of nobody', 'table of nobody']));
});

test('after stop() it makes no decision and keeps no timer', async () => {
  const { clock, decider, actions } = await aDecider();
  const pending = clock.pending();
  decider.stop();
  expect(clock.pending()).toBe(pending - 1);
  decider.decide();
  await clock.advance(60_000);
  expect(actions).toEqual([]);
});

test('evidence still expires after the code that acts on a table has thrown', async () => {
  const lab = await new LabMonitor().started();
  const known = { policy: aPolicy(), snapshot: lab.monitor.snapshot() };
  lab.monitor.stop();
  let isBroken = true;
  const onTable = (): void => {
    if (isBroken) throw new Error('broken');
  };
  const decider = new Decider({ known: () => known, clock: lab.clock, onTable });
  expect(() => decider.decide()).toThrow('broken');
  isBroken = false;
  lab.clock.stall(5000);
  decider.decideIfDue();
  expect(decider.table().pools.get('write')?.route.kind).toBe('hold');
});

test('a change during a decision is decided behind it, in order, with one timer', async () => {
  const lab = await new LabMonitor().started();
  const known = { policy: aPolicy(), snapshot: lab.monitor.snapshot() };
  lab.monitor.stop();
  const pending = lab.clock.pending();
  const order: string[] = [];
  let isNested = true;
  const decider: Decider = new Decider({
    known: () => known,
    clock: lab.clock,
    onTable: () => {
      order.push('acts');
      if (!isNested) return;
      isNested = false;
      decider.decide();
    },
    onDecided: (previous, next) => order.push(previous === next ? 'same' : 'reported'),
  });
  decider.decide();
  expect(order).toEqual(['acts', 'reported', 'acts', 'reported']);
  expect(lab.clock.pending()).toBe(pending + 1);
  decider.stop();
});

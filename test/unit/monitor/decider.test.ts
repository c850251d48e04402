import { expect, test } from 'vitest';
import type { Action } from '../../../src/core/actions.ts';
import { Decider } from '../../../src/monitor/decider.ts';
import { aPolicy } from '../../support/values/builders.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

/** A decider of its own over what a monitor knows at this moment, with the same clock; nobody brings it anything new. */
async function aDecider() {
  const lab = await new LabMonitor().started();
  const actions: Action[] = [];
  const known = { policy: aPolicy(), snapshot: lab.monitor.snapshot() };
  lab.monitor.stop();
  const decider = new Decider({ known: () => known, clock: lab.clock, onTable: (more) => actions.push(...more) });
  decider.decide();
  return { clock: lab.clock, known, decider, actions, table: lab.monitor.table() };
}

test('decides as the monitor does that has the same snapshot', async () => {
  const { decider, table } = await aDecider();
  expect(decider.table().pools).toEqual(table.pools);
});

test('G2, G4: evidence runs out where it is used: new sessions hold, live ones end, though nobody says anything any more', async () => {
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

test('a decision that a stall kept from its timer is made by decideIfDue(), and not by reading the table', async () => {
  const { clock, decider } = await aDecider();
  clock.stall(5000);
  expect(decider.table().pools.get('write')?.route.kind).toBe('open');
  decider.decideIfDue();
  expect(decider.table().pools.get('write')?.route.kind).toBe('hold');
});

test('after stop() it neither decides nor keeps a timer', async () => {
  const { clock, decider, actions } = await aDecider();
  const pending = clock.pending();
  decider.stop();
  expect(clock.pending()).toBe(pending - 1);
  decider.decide();
  await clock.advance(60_000);
  expect(actions).toEqual([]);
});

test('evidence still runs out after the part that acts on a table has thrown', async () => {
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

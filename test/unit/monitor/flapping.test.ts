// Members that contradict themselves and each other at every probe. No session is routed to two of them, no session
// ends more often than its member leaves, and no member gets more probes than the urgent pace allows.
import { expect, it } from 'vitest';
import { aPolicy } from '../../support/values/builders.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';

const NAMES = ['pg-1', 'pg-2', 'pg-3'] as const;
const ROUND_MS = 1000;
const ROUNDS = 120;

/** The members that answer yes to /primary, round by round: one after the other, two at a time, all, none. */
const PATTERNS: readonly (readonly string[])[] = [
  ['pg-1'],
  ['pg-2'],
  ['pg-3'],
  ['pg-1', 'pg-2'],
  ['pg-2', 'pg-3'],
  ['pg-1', 'pg-2', 'pg-3'],
  [],
];

it('scenario 14, G20: three members flap at every probe: never two, few evictions, limited probes', async () => {
  const lab = new LabMonitor(aPolicy());
  lab.set('pg-3', { role: 'replica' });
  await lab.started();
  const open: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const yes = PATTERNS[round % PATTERNS.length] ?? [];
    for (const name of NAMES) lab.set(name, { role: yes.includes(name) ? 'primary' : 'replica' });
    for (let step = 0; step < 10; step += 1) {
      await lab.clock.advance(ROUND_MS / 10);
      open.push(lab.writeRoute());
    }
  }
  expect(open.filter((route) => route.includes(','))).toEqual([]);
  expect(open).toContain('pg-2');
  const changes = lab.events.filter((event) => event.kind === 'route_changed' && event.pool === 'write');
  expect(lab.evictions('write').length).toBeLessThanOrEqual(changes.length);
  expect(changes.length).toBeLessThanOrEqual(2 * ROUNDS);
  const urgentRounds = (ROUNDS * ROUND_MS) / 90;
  for (const name of NAMES) expect(lab.askedSince(name, 0)).toBeLessThanOrEqual(2 * urgentRounds);
});

it('G20: a lasting outage costs each member no more probes than ordinary times', async () => {
  const lab = await new LabMonitor().started();
  lab.set('pg-1', { role: 'dead' });
  await lab.clock.advance(120_000);
  const from = lab.clock.now();
  await lab.clock.advance(60_000);
  // Two checks a round while no primary is known.
  expect(lab.askedSince('pg-2', from)).toBeLessThanOrEqual(2 * 61);
});

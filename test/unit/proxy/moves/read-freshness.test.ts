// Read sessions between two servers: what they have seen, and whether another server may still show as much.
import { expect, test } from 'vitest';
import type { SeenPosition } from '../../../../src/core/caught-up.ts';
import type { Snapshot } from '../../../../src/core/snapshot.ts';
import type { WalReport } from '../../../../src/model/moves.ts';
import type { Address } from '../../../../src/model/member.ts';
import { ReadFreshness } from '../../../../src/proxy/moves/read-freshness.ts';
import { aList, aPolicy, aPool, aSnapshot, isPrimary, isReplica } from '../../../support/values/builders.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const POLICY = aPolicy();
const STANDBY: WalReport = {
  kind: 'standby',
  replayed: 500,
  transactions: { allEndedBelow: 700, allVisibleBelow: 751 },
};

/** pg-2 follows timeline 1. */
function led(timeline: number): Snapshot {
  const primary = isPrimary('pg-1', 1, { timeline });
  return aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), primary, isReplica('pg-2', 1));
}

function orderWith(snapshot: (() => Snapshot) | undefined, pools = POLICY.pools): ReadFreshness {
  return new ReadFreshness({ snapshot, pools: () => pools, freshen: () => undefined, clock: new ManualClock() });
}

test('the position and the timeline of its replica count as seen', () => {
  const order = orderWith(() => led(1));
  const shown = order.shown('pg-2', STANDBY);
  expect(shown).toEqual<SeenPosition>({ wal: STANDBY, timeline: 1, at: 1000 });
});

test.each([
  ['no snapshot', orderWith(undefined), 'pg-2', STANDBY, /WAL position of pg-2 is not known/],
  ['no position', orderWith(() => led(1)), 'pg-2', undefined, /WAL position of pg-2 is not known/],
  ['no timeline', orderWith(() => led(1)), 'pg-3', STANDBY, /timeline of pg-3 is not known/],
  ['no check for the primary', orderWith(() => led(1), [aPool()]), 'pg-2', STANDBY, /no pool asks for the primary/],
  ['a timeline that has ended', orderWith(() => led(2)), 'pg-2', STANDBY, /on timeline 1, which has ended/],
] as const)('a session stays, because no server can be compared: %s', (_, order, member, wal, why) => {
  expect(order.shown(member, wal)).toMatch(why);
});

test('a session that waits is lost when its timeline ends', () => {
  let snapshot = led(1);
  const order = orderWith(() => snapshot);
  const shown: SeenPosition = { wal: STANDBY, timeline: 1, at: 1000 };
  expect(order.lost(shown)).toBeUndefined();
  snapshot = led(2);
  expect(order.lost(shown)).toMatch(/on timeline 1, which has ended/);
});

function at(host: string): Address {
  return { host, port: 5432 };
}

test('a server that has left the cluster keeps its timeline, and another server of its name does not count', () => {
  let snapshot = led(1);
  const before = snapshot.members.get('pg-2')?.member.postgres;
  const order = orderWith(() => snapshot);
  const asked = (address: Address | undefined): unknown => {
    order.learn();
    return order.shown('pg-2', STANDBY, address);
  };
  expect(asked(before)).toMatchObject({ timeline: 1 });
  const { members, ...others } = snapshot;
  snapshot = { ...others, members: new Map([...members].filter(([name]) => name !== 'pg-2')) };
  expect(asked(before)).toMatchObject({ timeline: 1 });
  expect(asked(at('10.9.9.9'))).toMatch(/timeline of pg-2 is not known/);
  // The name has a new server.
  const next = members.get('pg-2');
  if (next === undefined) throw new Error('pg-2 is a member');
  const record = { ...next, member: { ...next.member, postgres: at('10.9.9.8') } };
  snapshot = { ...others, members: new Map([...members, ['pg-2', record]]) };
  expect(asked(at('10.9.9.7'))).toMatch(/timeline of pg-2 is not known/);
  expect(asked(at('10.9.9.8'))).toMatchObject({ timeline: 1 });
  snapshot = { ...snapshot, highestTimeline: 2 };
  expect(asked(before)).toMatch(/timeline 1, which has ended/);
});

test('a server of another cluster has no timeline', () => {
  const snapshot = led(1);
  const record = snapshot.members.get('pg-2');
  if (record === undefined) throw new Error('pg-2 is a member');
  const order = orderWith(() => snapshot);
  const mismatch = { at: 2, detail: 'another system identifier', isOtherSystem: true };
  const other = { ...snapshot, members: new Map([['pg-2', { ...record, mismatch }]]) };
  const strangers = orderWith(() => other);
  expect(order.shown('pg-2', STANDBY, record.member.postgres)).toMatchObject({ timeline: 1 });
  expect(strangers.shown('pg-2', STANDBY, record.member.postgres)).toMatch(/timeline of pg-2 is not known/);
});

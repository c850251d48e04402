// Cases of the rule that no read session goes back in time. Random histories are in test/property/core.
import { expect, test } from 'vitest';
import { catchUp, seemsCaughtUp, shownBy } from '../../../src/core/caught-up.ts';
import type { CatchUp, ReachedPosition, SeenPosition } from '../../../src/core/caught-up.ts';
import type { WalReport } from '../../../src/model/moves.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { PoolPolicy } from '../../../src/model/policy.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
  READ_CHECK,
  silent,
} from '../../support/values/builders.ts';

const { pools } = aPolicy();
const MEMBERS = ['pg-1', 'pg-2', 'pg-3'];

function standby(replayed: number): WalReport {
  return { kind: 'standby', replayed, transactions: { allEndedBelow: 700, allVisibleBelow: 751 } };
}

function primary(written: number, { timeline = 1, allEndedBelow = 740 } = {}): WalReport {
  return { kind: 'primary', timeline, written, transactions: { allEndedBelow, allVisibleBelow: 760 } };
}

/** Every member answers at `at`. */
function round(at: number, { timeline = 1, location = 1000, replayed = 1000 } = {}): readonly Observation[] {
  return [
    isPrimary('pg-1', at, { timeline, location }),
    isReplica('pg-2', at, { timeline, replayed }),
    isReplica('pg-3', at, { timeline, replayed }),
  ];
}

function after(...observations: readonly Observation[]): ReturnType<typeof aSnapshot> {
  return aSnapshot(aPolicy(), aList(0, ...MEMBERS), ...observations);
}

/** pg-2 answers at 100. */
function shown(wal: WalReport, ...observations: readonly Observation[]): SeenPosition {
  return shownBy(after(...observations), 'pg-2', wal, 100);
}

/** pg-3 answers at 200, unless told otherwise. */
function reached(wal: WalReport, member = 'pg-3'): ReachedPosition {
  return { member, wal, at: 200 };
}

/** pg-1 as the next server. */
function asPrimary(allEndedBelow: number): ReachedPosition {
  return reached(primary(9000, { allEndedBelow }), 'pg-1');
}

function verdict(from: SeenPosition, to: ReachedPosition, ...observations: readonly Observation[]): CatchUp {
  return catchUp(pools, after(...observations), from, to);
}

const CAUGHT_UP = { kind: 'caught_up' };
const BEHIND = { kind: 'not_yet', why: 'behind' };
const ELSEWHERE = { kind: 'not_yet', why: 'other_timeline' };
const UNPROVEN = { kind: 'not_yet', why: 'primary_unproven' };

test('a standby that has replayed more has caught up, once the primary has answered after it', () => {
  const from = shown(standby(500), ...round(50));
  expect(verdict(from, reached(standby(501)), ...round(50), ...round(201))).toEqual(CAUGHT_UP);
  expect(verdict(from, reached(standby(501)), ...round(50), ...round(199))).toEqual(UNPROVEN);
  expect(verdict(from, reached(standby(501)), ...round(50))).toEqual(UNPROVEN);
  expect(verdict(from, reached(standby(499)), ...round(50), ...round(201))).toEqual(BEHIND);
});

test('the same position is not enough: the effect of the next record may have been visible already', () => {
  const from = shown(standby(500), ...round(50));
  expect(verdict(from, reached(standby(500)), ...round(50), ...round(201))).toEqual(BEHIND);
});

test('the same position is enough when the primary, asked after the old server, has written no more', () => {
  const from = shown(standby(500), ...round(50, { location: 500 }));
  const quiet = [...round(50), ...round(201, { location: 500 })];
  expect(verdict(from, reached(standby(500)), ...quiet)).toEqual(CAUGHT_UP);
  expect(verdict(from, reached(standby(500)), ...round(50, { location: 500 }), isPrimary('pg-1', 201))).toEqual(BEHIND);
});

test('a primary shows nothing beyond what it has written, so a standby needs no more than that', () => {
  const from = shown(primary(500), ...round(50));
  expect(verdict(from, reached(standby(500)), ...round(50), ...round(201))).toEqual(CAUGHT_UP);
  expect(verdict(from, reached(standby(499)), ...round(50), ...round(201))).toEqual(BEHIND);
});

test('a primary as the next server has caught up when all that may have been seen has ended there', () => {
  const from = shown(standby(500), ...round(50));
  expect(verdict(from, asPrimary(751), ...round(50), ...round(201))).toEqual(CAUGHT_UP);
  expect(verdict(from, asPrimary(750), ...round(50), ...round(201))).toEqual(BEHIND);
});

test('a server on another timeline than the primary has not caught up, whatever its position', () => {
  const from = shown(standby(500), ...round(50, { timeline: 2 }));
  const late = [isPrimary('pg-1', 201, { timeline: 2 }), isReplica('pg-3', 202, { timeline: 1 })];
  expect(verdict(from, reached(standby(9000)), ...late)).toEqual(ELSEWHERE);
});

test('a timeline that ended proves nothing ever: its last WAL may be lost', () => {
  const from = shown(standby(500), ...round(50));
  const next = round(201, { timeline: 2 });
  expect(verdict(from, reached(standby(9000)), ...round(50), ...next)).toEqual({
    kind: 'never',
    why: 'timeline_ended',
  });
});

test('a failover between the answer of the next server and the last probe of the primary is no proof', () => {
  const from = shown(standby(500), ...round(50));
  // pg-3 follows timeline 2 already; its API reports the old one, and the primary was probed before.
  expect(verdict(from, reached(standby(9000)), ...round(50), ...round(150))).toEqual(UNPROVEN);
});

test('a promoted replica: its own timeline counts, and sessions wait until the primary is known to be on it', () => {
  const from = shown(primary(500, { timeline: 2 }), ...round(50));
  expect(from.timeline).toBe(2);
  expect(verdict(from, reached(standby(900)), ...round(50), ...round(201))).toEqual(UNPROVEN);
  const promoted = [isPrimary('pg-2', 201, { timeline: 2 }), isReplica('pg-3', 202, { timeline: 2 })];
  expect(verdict(from, reached(standby(900)), ...round(50), ...promoted)).toEqual(CAUGHT_UP);
});

test('what was not reported is unknown: the timeline of the old server, or of the next one', () => {
  const silentApi = [isPrimary('pg-1', 50), isReplica('pg-3', 50)];
  const from = shown(standby(500), ...silentApi);
  expect(verdict(from, reached(standby(900)), ...silentApi, ...round(201))).toEqual({
    kind: 'never',
    why: 'timeline_unknown',
  });
  const known = shown(standby(500), ...round(50));
  const noTimeline = [isPrimary('pg-1', 201), answered({ member: 'pg-3', at: 202, status: 503, body: {} })];
  expect(verdict(known, reached(standby(900)), ...noTimeline)).toEqual(ELSEWHERE);
});

test('the yes of the primary is from after both answers', () => {
  const from = shown(standby(500), ...round(50));
  expect(verdict(from, reached(standby(900)), ...round(200))).toEqual(UNPROVEN);
  expect(verdict(from, { ...reached(standby(900)), at: 90 }, ...round(95))).toEqual(UNPROVEN);
});

test('another server that calls itself a primary is not the proven one: its history may be another', () => {
  const from = shown(standby(500), ...round(50));
  const all = { allEndedBelow: 9000 };
  expect(verdict(from, reached(primary(9000, all), 'pg-3'), ...round(201))).toEqual(ELSEWHERE);
  expect(verdict(from, reached(primary(9000, { ...all, timeline: 2 }), 'pg-1'), ...round(201))).toEqual(ELSEWHERE);
});

test('a member of another cluster proves nothing, as the primary, as the old server or as the next one', () => {
  const from = shown(standby(500), ...round(50));
  const other = { scope: 'billing' };
  expect(verdict(from, reached(standby(900)), ...round(201), isPrimary('pg-1', 210, other))).toEqual(UNPROVEN);
  expect(verdict(from, reached(standby(900)), ...round(201), isReplica('pg-3', 210, other))).toEqual(ELSEWHERE);
  expect(shown(standby(500), ...round(50), isReplica('pg-2', 60, other)).timeline).toBeUndefined();
});

test('a yes on a timeline that another member has gone beyond is no proof', () => {
  const from = shown(primary(500, { timeline: 2 }), ...round(50));
  const steppedDown = answered({ member: 'pg-2', at: 203, status: 503, body: { role: 'replica', timeline: 2 } });
  const promoted = [isPrimary('pg-2', 202, { timeline: 2 }), steppedDown];
  const late = [...round(50), isPrimary('pg-1', 201), ...promoted, isReplica('pg-3', 204, { timeline: 2 })];
  expect(verdict(from, reached(standby(900)), ...late)).toEqual(UNPROVEN);
});

test('only what the primary has written on its own timeline says that it has written no more', () => {
  const from = shown(standby(500), ...round(50, { timeline: 2 }));
  const follows = isReplica('pg-3', 203, { timeline: 2 });
  const before = isPrimary('pg-1', 150, { timeline: 1, location: 500 });
  const now = isPrimary('pg-1', 201, { timeline: 2, location: 900 });
  expect(verdict(from, reached(standby(500)), before, now, follows)).toEqual(BEHIND);
});

test('the primary has to have written no more after the old server answered, not at that instant', () => {
  const from = shown(standby(500), ...round(50, { location: 500 }));
  const sameInstant = [...round(100, { location: 500 }), ...round(201, { location: 900 })];
  expect(verdict(from, reached(standby(500)), ...sameInstant)).toEqual(BEHIND);
});

test('a primary that has said no since then proves nothing', () => {
  const from = shown(standby(500), ...round(50));
  const no = answered({ member: 'pg-1', at: 202, status: 503, body: { role: 'primary', timeline: 1 } });
  expect(verdict(from, reached(standby(900)), ...round(50), ...round(201), no)).toEqual(UNPROVEN);
});

test('a yes to one of several checks for the primary is proof', () => {
  const several = [...pools, aWritePool({ name: 'too', check: '/read-write' })];
  const from = shown(standby(500), ...round(50));
  expect(catchUp(several, after(...round(50), ...round(201)), from, reached(standby(900)))).toEqual(CAUGHT_UP);
});

test('a next server that is no member any more is on no known timeline', () => {
  const from = shown(standby(500), ...round(50));
  expect(verdict(from, reached(standby(900), 'pg-9'), ...round(201))).toEqual(ELSEWHERE);
});

test('a primary that is silent, and two primaries on one timeline, prove nothing', () => {
  const from = shown(standby(500), ...round(50));
  const isSilent = [...round(50), silent({ member: 'pg-1', at: 201 })];
  expect(verdict(from, reached(standby(900)), ...isSilent)).toEqual(UNPROVEN);
  const two = [...round(50), isPrimary('pg-1', 201), isPrimary('pg-2', 202)];
  expect(verdict(from, reached(standby(900)), ...two)).toEqual(UNPROVEN);
});

test('two servers that gave one number to different timelines prove nothing, even when one of them is gone', () => {
  const from = shown(standby(500), ...round(50));
  // pg-1 died, and pg-3, which had seen nothing of its timeline, began another one of the same number.
  const twin = [...round(50), silent({ member: 'pg-1', at: 150 }), isReplica('pg-1', 160), isPrimary('pg-3', 201)];
  expect(verdict(from, reached(primary(9000, { allEndedBelow: 800 })), ...twin)).toEqual(UNPROVEN);
  expect(seemsCaughtUp(pools, after(...twin), from, 'pg-3')).toBe(false);
});

test('without a pool that asks for the primary nothing is proven', () => {
  const from = shown(standby(500), ...round(50));
  const reads: readonly PoolPolicy[] = [aPool()];
  expect(catchUp(reads, after(...round(50), ...round(201)), from, reached(standby(900)))).toEqual(UNPROVEN);
});

test('probes tell which member seems to have caught up', () => {
  const from = shown(standby(500), ...round(50));
  const seems = (member: string, ...observations: readonly Observation[]): boolean =>
    seemsCaughtUp(pools, after(...observations), from, member);
  expect(seems('pg-3', ...round(90, { replayed: 501 }))).toBe(true);
  expect(seems('pg-3', ...round(90, { replayed: 500 }))).toBe(false);
  expect(seems('pg-3', ...round(101, { replayed: 500, location: 500 }))).toBe(true);
  expect(seems('pg-1', ...round(90))).toBe(true);
  expect(seems('pg-3', ...round(90, { replayed: 900, timeline: 2 }))).toBe(false);
  expect(seems('pg-4', ...round(90, { replayed: 900 }))).toBe(false);
  expect(seems('pg-3', ...round(90), isReplica('pg-3', 91, { replayed: 'invalid' }))).toBe(true);
  expect(seems('pg-3', isPrimary('pg-1', 90), isReplica('pg-3', 91, { replayed: 'invalid' }))).toBe(false);
  const wrote = answered({ member: 'pg-3', at: 91, status: 503, body: { location: 9000, timeline: 1 } });
  expect(seems('pg-3', isPrimary('pg-1', 90), wrote), 'a position that it wrote was not replayed').toBe(false);
  const onTwo = shown(standby(500), ...round(50, { timeline: 2 }));
  const late = [isPrimary('pg-1', 90, { timeline: 2 }), isReplica('pg-3', 91, { timeline: 1, replayed: 9000 })];
  expect(seemsCaughtUp(pools, after(...late), onTwo, 'pg-3')).toBe(false);
});

test('without timelines no member seems to have caught up', () => {
  const bare = [
    answered({ member: 'pg-1', at: 50, body: { role: 'primary', state: 'running', location: 1000 } }),
    answered({
      member: 'pg-3',
      at: 51,
      check: READ_CHECK,
      body: { role: 'replica', state: 'running', replayed: 1000 },
    }),
  ];
  const from = shown(standby(500), ...bare);
  expect(from.timeline).toBeUndefined();
  for (const member of MEMBERS) expect(seemsCaughtUp(pools, after(...bare), from, member)).toBe(false);
});

// The queue of held clients alone: the instant of each release.
import { expect, test } from 'vitest';
import type { Target } from '../../../../src/core/routing-table.ts';
import type { Address } from '../../../../src/model/member.ts';
import type { HoldPolicy } from '../../../../src/model/policy.ts';
import { HoldQueue } from '../../../../src/proxy/connect/hold-queue.ts';
import type { HoldResult } from '../../../../src/proxy/connect/hold-queue.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { LAB_POLICY } from '../../../support/labs/proxy-lab.ts';
import { aTableOf } from '../../../support/values/tables.ts';

const PG_1: Address = { host: '10.0.0.1', port: 5432 };
const PG_2: Address = { host: '10.0.0.2', port: 5432 };

interface Lab {
  readonly clock: ManualClock;
  readonly holding: HoldQueue;
  /** The pool routes to this address from now on; without an address it routes nowhere. */
  readonly decide: (address?: Address, facts?: Pick<Target, 'isTrial'>) => void;
  /** A client begins to wait. `onRelease` runs at its release. */
  readonly enter: (id: number, pauseMs: number, onRelease?: () => void) => HoldResult;
  readonly released: readonly number[];
  readonly expired: readonly number[];
}

function start(policy: Partial<HoldPolicy> = {}, heldElsewhere = (): number => 0): Lab {
  const clock = new ManualClock();
  let table = aTableOf({ write: {} });
  const released: number[] = [];
  const expired: number[] = [];
  const holding = new HoldQueue({
    policy: () => ({ ...LAB_POLICY.hold, maxSessions: 10_000, ...policy }),
    table: () => table,
    decideIfDue: () => {},
    clock,
    onEvent: () => {},
    onTrigger: () => {},
    heldElsewhere,
  });
  holding.learn(['write']);
  holding.tableChanged();
  const enter: Lab['enter'] = (id, pauseMs, onRelease = () => {}) => {
    const since = clock.now();
    const leave = (list: number[]): void => {
      if (answer.kind === 'held') answer.leave();
      list.push(id);
    };
    const answer = holding.enter({
      session: aSessionHandle({ id, state: 'holding' }),
      cause: 'no_member',
      since,
      pauseMs,
      onReleased: () => {
        leave(released);
        onRelease();
      },
      onGiveUp: (reason) => leave(reason === 'hold_timeout' ? expired : []),
    });
    return answer;
  };
  return {
    clock,
    holding,
    enter,
    released,
    expired,
    decide: (address, facts = {}) => {
      const open = address === undefined ? {} : { 'pg-1': address };
      table = aTableOf({ write: { open, sharing: { 'pg-1': facts } } });
      holding.tableChanged();
    },
  };
}

test('clients that return to the queue do not delay the release of a waiting client', async () => {
  const { clock, decide, enter, released, expired, holding } = start();
  decide(PG_1);
  enter(0, 100);
  for (let id = 1; id <= 20; id += 1) {
    await clock.advance(50);
    enter(id, 100);
  }
  expect(released[0], 'after its own pause').toBe(0);
  expect(expired).toEqual([]);
  await clock.advance(200);
  expect(released).toHaveLength(21);
  holding.stop();
});

test('G20: failing connects do not slow the releases below the rate', async () => {
  const { clock, decide, enter, released, holding } = start({ maxConnectsPerSecond: 200 });
  // Every fifth connect fails 50 ms after the release, and its client waits for a pause of 100 ms.
  for (let id = 0; id < 800; id += 1) {
    const isFailing = id % 5 === 0;
    enter(id, 0, () => {
      if (isFailing) clock.schedule(50, () => enter(id, 100));
    });
  }
  decide(PG_1);
  // 960 releases at 200 a second.
  await clock.advance(5_000);
  expect(released.length).toBeGreaterThan(950);
  await clock.advance(200);
  expect(released).toHaveLength(960);
  holding.stop();
});

test('clients in the queues of other processes count toward the limit', () => {
  const { enter, holding } = start({ maxSessions: 3 }, () => 2);
  expect(enter(1, 0).kind).toBe('held');
  expect(enter(2, 0)).toMatchObject({ kind: 'refused', reason: 'hold_full' });
  holding.stop();
});

test('a pause ends when the route changes, and not on a decision for the same route', async () => {
  const { clock, decide, enter, released, holding } = start();
  decide(PG_1);
  enter(1, 100);
  decide(PG_1);
  await clock.advance(99);
  expect(released).toEqual([]);
  decide(PG_2);
  expect(released).toEqual([1]);
  holding.stop();
});

test('the longest wait is the one of the client that has waited longest, and ends with it', async () => {
  const { clock, holding, enter } = start();
  expect(holding.longestSince('write')).toBeUndefined();
  const since = clock.now();
  const first = enter(1, 0);
  await clock.advance(500);
  const second = enter(2, 0);
  expect([holding.longestSince('write'), holding.longestSince('unknown')]).toEqual([since, undefined]);
  if (first.kind === 'held') first.leave();
  expect(holding.longestSince('write')).toBe(since + 500);
  if (second.kind === 'held') second.leave();
  expect(holding.longestSince('write')).toBeUndefined();
});

test('one client at a time tries a server that was in recovery, however many arrive meanwhile', async () => {
  const { clock, decide, enter, released, holding } = start();
  decide(PG_1, { isTrial: true });
  for (let id = 0; id < 50; id += 1) {
    enter(id, 0);
    await clock.advance(10);
  }
  expect(released).toEqual([0, 1, 2]);
  decide(PG_1);
  await clock.advance(1_000);
  expect(released).toHaveLength(50);
  holding.stop();
});

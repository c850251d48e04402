// Operator overrides, whatever the members answer. A drained member is excluded from every pool. A leader that is about
// to hand over gets no new sessions. No other member replaces it in an exclusive pool.
import { describe, expect, test } from 'vitest';
import { isOver, planActions } from '../../../src/core/actions.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { describeRoute, describeStanding } from '../../../src/core/describe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import { withDrained, withResumed } from '../../../src/core/snapshot.ts';
import type { Handover } from '../../../src/core/snapshot.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  poolOf,
  refused,
  routeOf,
  standingIn,
} from '../../support/values/builders.ts';

const POLICY = aPolicy({ pools: [aWritePool(), aPool({ fallback: { pool: 'write', maxSessions: 50 } })] });
const ROUND = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isPrimary('pg-1', 0), isReplica('pg-2', 0), isReplica('pg-3', 0)];

function drained(now: number, members: readonly string[], ...news: readonly Observation[]): RoutingTable {
  const snapshot = aSnapshot(POLICY, ...ROUND, ...news);
  return decideRoutes(
    POLICY,
    members.reduce((known, name) => withDrained(known, name, 500), snapshot),
    now,
  );
}

describe('a drained replica', () => {
  test('takes no sessions, the others do', () => {
    const table = drained(1000, ['pg-2']);
    expect(openIn(table, 'read')).toEqual(['pg-3']);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave operator drained');
  });

  test('has a reason with its start and its end', () => {
    const standing = poolOf(drained(1000, ['pg-2']), 'read').standings.get('pg-2');
    expect(standing && describeStanding(standing, 1000)).toBe(
      'drained by the operator 500 ms ago; answered 200 to /replica?lag=16MB 1 s ago; ' +
        'no new sessions until it is resumed',
    );
  });

  test('drains its live sessions, and the resume asks for no action', () => {
    const before = drained(1000, []);
    const after = drained(1000, ['pg-2']);
    const actions = planActions(POLICY, before, after).map(({ pool, member, cause, mode }) => [
      pool,
      member,
      cause,
      mode,
    ]);
    expect(actions).toEqual([['read', 'pg-2', 'operator', 'drain']]);
    expect(planActions(POLICY, after, before)).toEqual([]);
  });

  test('without another replica the pool uses its fallback as if it had no member', () => {
    const table = drained(1000, ['pg-2', 'pg-3']);
    expect(routeOf(table, 'read')).toMatchObject({ kind: 'open', fallback: { pool: 'write' } });
    expect(openIn(table, 'read')).toEqual(['pg-1']);
  });

  test('after its death the action for its sessions is stronger than the drain', () => {
    const table = drained(1100, ['pg-2'], refused({ member: 'pg-2', at: 1000 }));
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave dead refused');
    const back = drained(1300, ['pg-2'], refused({ member: 'pg-2', at: 1000 }), isReplica('pg-2', 1200));
    expect(standingIn(back, 'read', 'pg-2')).toBe('leave operator drained');
  });
});

describe('a drained primary', () => {
  test('holds new clients of its pool: no other member gets them', () => {
    const table = drained(1000, ['pg-1']);
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'drained' });
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave operator drained');
  });

  test('stays excluded as a replica when the next proven primary opens the pool', () => {
    const next = isPrimary('pg-2', 1000, { timeline: 2 });
    const table = drained(1200, ['pg-1'], next, isReplica('pg-1', 1100, { timeline: 2 }));
    expect(openIn(table, 'write')).toEqual(['pg-2']);
    expect(standingIn(table, 'read', 'pg-1')).toBe('leave operator drained');
  });

  test('is still called drained when it leaves for another reason that asks for no more', () => {
    const policy = aPolicy({
      pools: [aWritePool({ onLeave: { ...aWritePool().onLeave, demoted: 'drain', operator: 'drain' } })],
    });
    const snapshot = aSnapshot(policy, ...ROUND, answered({ at: 1000, status: 503 }));
    const table = decideRoutes(policy, withDrained(snapshot, 'pg-1', 500), 1100);
    expect(standingIn(table, 'write', 'pg-1')).toBe('leave operator drained');
  });

  test('closes its sessions after a no, as always (G3)', () => {
    const table = drained(1100, ['pg-1'], answered({ at: 1000, status: 503 }));
    const policy = aPolicy({ pools: [aWritePool({ onLeave: { ...aWritePool().onLeave, operator: 'drain' } })] });
    const snapshot = aSnapshot(policy, ...ROUND, answered({ at: 1000, status: 503 }));
    const decided = decideRoutes(policy, withDrained(snapshot, 'pg-1', 500), 1100);
    expect(standingIn(decided, 'write', 'pg-1')).toBe('leave demoted not_holding_the_check');
    expect(openIn(table, 'write')).toEqual([]);
  });

  test('is no fallback for any pool', () => {
    const table = drained(1000, ['pg-1', 'pg-2', 'pg-3']);
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'drained' });
  });
});

test('after a resume everything is as before; a second drain keeps the first start', () => {
  const snapshot = aSnapshot(POLICY, ...ROUND);
  const twice = withDrained(withDrained(snapshot, 'pg-2', 500), 'pg-2', 900);
  expect(twice.drained.get('pg-2')).toBe(500);
  expect(decideRoutes(POLICY, withResumed(twice, 'pg-2'), 1000)).toEqual(decideRoutes(POLICY, snapshot, 1000));
});

describe('a primary that hands over', () => {
  const HANDOVER = {
    operation: 'switchover',
    member: 'pg-1',
    since: 500,
    mostMs: 20_000,
    transactionMs: 3000,
  } as const;

  function handingOver(
    phase: Handover['phase'],
    now: number,
    news: readonly Observation[] = [],
    policy = POLICY,
    changes: Partial<Handover> = {},
  ): RoutingTable {
    const snapshot = aSnapshot(policy, ...ROUND, ...news);
    return decideRoutes(policy, { ...snapshot, handover: { ...HANDOVER, phase, ...changes } }, now);
  }

  const before = decideRoutes(POLICY, aSnapshot(POLICY, ...ROUND), 1000);

  test('holds new clients first, and live sessions stay', () => {
    const table = handingOver('hold', 1000);
    expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'switchover' });
    expect(standingIn(table, 'write', 'pg-1')).toBe('keep switchover_running');
    expect(openIn(table, 'read')).toEqual(['pg-2', 'pg-3']);
    expect(planActions(POLICY, before, table)).toEqual([]);
  });

  test('keeps no session that must leave, while it holds new clients', () => {
    const no = answered({ at: 1000, status: 503 });
    expect(standingIn(handingOver('hold', 1100, [no]), 'write', 'pg-1')).toBe('leave demoted not_holding_the_check');
  });

  test('then drains its sessions of every pool, with the time that its transactions get', () => {
    const table = handingOver('drain', 1000);
    const actions = planActions(POLICY, handingOver('hold', 1000), table);
    const planned = actions.map(({ pool, member, cause, mode, limitMs, afterMs }) =>
      [pool, member, cause, mode, limitMs, afterMs].join(' '),
    );
    expect(planned).toEqual(['write pg-1 switchover drain 3000 0', 'read pg-1 switchover drain 3000 0']);
    expect(planActions(POLICY, table, table)).toEqual([]);
  });

  test('drains whatever the pool does with the sessions of other members that leave', () => {
    const onLeave = { ...aPool().onLeave, operator: 'keep', promoted: 'keep', fallback_over: 'keep' } as const;
    const pools = [aWritePool({ onLeave }), aPool({ onLeave, fallback: { pool: 'write', maxSessions: 50 } })];
    const policy = aPolicy({ pools });
    const was = decideRoutes(policy, aSnapshot(policy, ...ROUND), 1000);
    const actions = planActions(policy, was, handingOver('drain', 1000, [], policy));
    expect(actions.map(({ pool, mode }) => `${pool} ${mode}`)).toEqual(['write drain', 'read drain']);
  });

  test('is drained of the read sessions that it serves by fallback, and these clients wait', () => {
    const alone = [refused({ member: 'pg-2', at: 900 }), refused({ member: 'pg-3', at: 900 })];
    const was = decideRoutes(POLICY, aSnapshot(POLICY, ...ROUND, ...alone), 1000);
    expect(openIn(was, 'read')).toEqual(['pg-1']);
    const table = handingOver('drain', 1000, alone);
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'switchover' });
    expect(planActions(POLICY, was, table).map(({ pool, cause }) => `${pool} ${cause}`)).toEqual([
      'write switchover',
      'read switchover',
    ]);
  });

  test('is drained of them, also where the pool closes sessions at a member that was promoted', () => {
    const onLeave = { ...aPool().onLeave, promoted: 'close', fallback_over: 'close' } as const;
    const policy = aPolicy({ pools: [aWritePool(), aPool({ onLeave, fallback: { pool: 'write', maxSessions: 50 } })] });
    const alone = [refused({ member: 'pg-2', at: 900 }), refused({ member: 'pg-3', at: 900 })];
    const was = decideRoutes(policy, aSnapshot(policy, ...ROUND, ...alone), 1000);
    const actions = planActions(policy, was, handingOver('drain', 1000, alone, policy));
    expect(actions.map(({ pool, cause, mode }) => `${pool} ${cause} ${mode}`)).toEqual([
      'write switchover drain',
      'read switchover drain',
    ]);
  });

  test('closes sessions at a server of another cluster, whatever else the operator wants', () => {
    const onLeave = { ...aPool().onLeave, removed: 'keep' } as const;
    const policy = aPolicy({ pools: [aWritePool({ onLeave })] });
    const [own, other] = [{ systemIdentifier: '7' }, { systemIdentifier: '8' }];
    const news = [isPrimary('pg-1', 600, own), isPrimary('pg-1', 900, other)];
    expect(standingIn(handingOver('drain', 1000, news, policy), 'write', 'pg-1')).toBe('leave removed other_cluster');
    const snapshot = withDrained(aSnapshot(policy, ...ROUND, ...news), 'pg-1', 500);
    expect(standingIn(decideRoutes(policy, snapshot, 1000), 'write', 'pg-1')).toBe('leave removed other_cluster');
  });

  test('after the end the table is the one without it, and its drains are over', () => {
    const draining = handingOver('drain', 1000);
    const actions = planActions(POLICY, before, draining);
    expect(actions.map((action) => isOver(action, draining))).toEqual([false, false]);
    expect(actions.map((action) => isOver(action, before))).toEqual([true, true]);
    expect(planActions(POLICY, draining, before).every(({ cause }) => cause !== 'switchover')).toBe(true);
  });

  test('the hold ends by itself, and the table knows the instant', () => {
    const news = [isPrimary('pg-1', 20_000), isReplica('pg-2', 20_000), isReplica('pg-3', 20_000)];
    expect(handingOver('drain', 20_400, news).validUntil).toBe(20_500);
    const without = decideRoutes(POLICY, aSnapshot(POLICY, ...ROUND, ...news), 20_500);
    expect(handingOver('drain', 20_500, news)).toEqual(without);
  });

  test('the next proven primary takes clients at once', () => {
    const table = handingOver('drain', 1200, [isPrimary('pg-2', 1100, { timeline: 2 })]);
    expect(openIn(table, 'write')).toEqual(['pg-2']);
  });

  test('closes its sessions after a no or a death, as always (G3)', () => {
    const no = answered({ at: 1000, status: 503 });
    expect(standingIn(handingOver('drain', 1100, [no]), 'write', 'pg-1')).toBe('leave demoted not_holding_the_check');
    const dead = refused({ member: 'pg-1', at: 1000 });
    expect(standingIn(handingOver('drain', 1100, [dead]), 'write', 'pg-1')).toBe('leave dead refused');
  });

  test('before a restart in place too, in every pool, with other words', () => {
    const policy = POLICY;
    const primary = handingOver('drain', 1000, [], policy, { operation: 'restart' });
    expect(routeOf(primary, 'write')).toEqual({ kind: 'hold', cause: 'restart' });
    expect(planActions(policy, before, primary).map(({ pool, cause, mode }) => [pool, cause, mode].join(' '))).toEqual([
      'write restart drain',
      'read restart drain',
    ]);
    expect(planActions(policy, primary, before).every(({ cause }) => cause !== 'restart')).toBe(true);
    const replica = handingOver('drain', 1000, [], policy, { operation: 'restart', member: 'pg-2' });
    expect([openIn(replica, 'write'), openIn(replica, 'read')]).toEqual([['pg-1'], ['pg-3']]);
    const standing = poolOf(replica, 'read').standings.get('pg-2');
    expect(standing && describeStanding(standing, 1000)).toMatch(/^restarts for 500 ms; .*until it has restarted$/);
    expect(describeRoute(routeOf(primary, 'write'))).toBe('the primary restarts, clients wait');
  });

  test('says why', () => {
    const standing = poolOf(handingOver('drain', 1000), 'write').standings.get('pg-1');
    expect(standing && describeStanding(standing, 1000)).toBe(
      'switchover in progress for 500 ms; answered 200 to /primary 1 s ago; new clients wait for the next primary',
    );
    expect(describeRoute(routeOf(handingOver('hold', 1000), 'write'))).toBe(
      'a switchover is due or running, clients wait',
    );
  });
});

describe('a scheduled switchover with hold.before_switchover 2s', () => {
  const policy = aPolicy({ beforeSwitchoverMs: 2000, pools: POLICY.pools });
  const scheduled: Observation = { ...aList(9000, 'pg-1', 'pg-2', 'pg-3'), switchover: { at: 20_000, leader: 'pg-1' } };

  function at(now: number, ...news: readonly Observation[]): RoutingTable {
    const fresh = [isPrimary('pg-1', now - 100), isReplica('pg-2', now - 100), isReplica('pg-3', now - 100)];
    return decideRoutes(policy, aSnapshot(policy, ...ROUND, scheduled, ...fresh, ...news), now);
  }

  test('until shortly before, nothing changes, and the table knows the instant of the change', () => {
    expect(openIn(at(17_000), 'write')).toEqual(['pg-1']);
    expect(at(17_000).validUntil).toBe(18_000);
  });

  test.each([18_000, 20_000, 34_999])('at %d new clients wait, live sessions stay', (now) => {
    expect(routeOf(at(now), 'write')).toEqual({ kind: 'hold', cause: 'switchover' });
    expect(standingIn(at(now), 'write', 'pg-1')).toBe('keep switchover_due');
    expect(planActions(policy, at(17_000), at(now))).toEqual([]);
    expect(openIn(at(now), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test.each([
    [18_500, 'switchover due in 1.5 s; answered 200 to /primary 100 ms ago; new clients wait for the next primary'],
    [20_000, 'switchover due 0 ms ago; answered 200 to /primary 100 ms ago; new clients wait for the next primary'],
    [21_000, 'switchover due 1 s ago; answered 200 to /primary 100 ms ago; new clients wait for the next primary'],
  ])('at %d the table gives the reason', (now, sentence) => {
    const standing = poolOf(at(now), 'write').standings.get('pg-1');
    expect(standing && describeStanding(standing, now)).toBe(sentence);
  });

  test('another primary ends the hold at once', () => {
    expect(openIn(at(20_500, isPrimary('pg-2', 20_450, { timeline: 2 })), 'write')).toEqual(['pg-2']);
  });

  test('a leader that still serves 15 s after the time takes sessions again', () => {
    expect(openIn(at(35_000), 'write')).toEqual(['pg-1']);
  });

  test('without effect once it is taken back; a list without a document reports nothing about it', () => {
    expect(openIn(at(18_500, { ...aList(18_450, 'pg-1', 'pg-2', 'pg-3'), switchover: 'none' }), 'write')).toEqual([
      'pg-1',
    ]);
    expect(openIn(at(18_500, aList(18_450, 'pg-1', 'pg-2', 'pg-3')), 'write')).toEqual([]);
  });

  test('the switchover of another member has no effect, and none has without the option', () => {
    const other: Observation = { ...aList(18_450, 'pg-1'), switchover: { at: 20_000, leader: 'pg-9' } };
    expect(openIn(at(18_500, other), 'write')).toEqual(['pg-1']);
    const without = aSnapshot(POLICY, ...ROUND, scheduled, isPrimary('pg-1', 18_400));
    expect(openIn(decideRoutes(POLICY, without, 18_500), 'write')).toEqual(['pg-1']);
    const due = aSnapshot(POLICY, ...ROUND, scheduled, isPrimary('pg-1', 20_400));
    expect(openIn(decideRoutes(POLICY, due, 20_500), 'write')).toEqual(['pg-1']);
  });

  test('a pool that takes several members waits for nobody', () => {
    const shared = aPolicy({ beforeSwitchoverMs: 2000, pools: [aWritePool({ exclusive: false })] });
    const table = decideRoutes(shared, aSnapshot(shared, ...ROUND, scheduled, isPrimary('pg-1', 18_400)), 18_500);
    expect(openIn(table, 'write')).toEqual(['pg-1']);
  });
});

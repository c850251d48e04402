import { describe, expect, test } from 'vitest';
import { planActions } from '../../../src/core/actions.ts';
import { decideRoutes, emptyTable } from '../../../src/core/decide-routes.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  READ_CHECK,
  refused,
  silent,
} from '../../support/values/builders.ts';

const POLICY = aPolicy({ pools: [aWritePool(), aPool()] });
const ROUND = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0)] as const;
const BEFORE = aTable(POLICY, 100, ...ROUND);
const MOVED = aMember('pg-2', { postgres: { host: '10.0.0.9', port: 5432 } });

function lags(at: number) {
  return answered({ member: 'pg-2', check: READ_CHECK, at, status: 503, body: { role: 'replica', state: 'running' } });
}

function planned(now: number, ...news: readonly Observation[]): readonly string[] {
  const actions = planActions(POLICY, BEFORE, aTable(POLICY, now, ...ROUND, ...news));
  return actions.map(({ pool, member, cause, mode, address }) => `${pool} ${member} ${cause} ${mode} ${address.host}`);
}

describe('the actions for the step to the next table', () => {
  test.each<[string, number, readonly Observation[], readonly string[]]>([
    ['nothing new', 200, [], []],
    ['a demotion', 1100, [answered({ at: 1000, status: 503 })], ['write pg-1 demoted close pg-1']],
    [
      'a proven rival',
      1100,
      [isPrimary('pg-2', 1000, { timeline: 2 })],
      ['write pg-1 demoted close pg-1', 'read pg-2 promoted keep pg-2'],
    ],
    ['death', 1100, [refused({ member: 'pg-2', at: 1000 })], ['read pg-2 dead close pg-2']],
    ['lag', 2100, [lags(1000), lags(2000)], ['read pg-2 lagging keep pg-2']],
    ['a tag', 1100, [isReplica('pg-2', 1000, { noloadbalance: true })], ['read pg-2 tagged_out drain pg-2']],
    ['silence below the grace', 14_999, [], []],
    ['silence', 15_000, [isPrimary('pg-1', 14_000)], ['read pg-2 silent close pg-2']],
    [
      'a foreign server at the address',
      1100,
      [isReplica('pg-2', 1000, { scope: 'x' })],
      ['read pg-2 removed drain pg-2'],
    ],
    [
      'a member that is gone',
      16_000,
      [isPrimary('pg-1', 15_500), aList(15_900, 'pg-1')],
      ['read pg-2 removed drain pg-2'],
    ],
    ['not now', 1100, [answered({ at: 1000, body: { state: 'stopping' } })], []],
    ['one lost probe', 1100, [silent({ at: 1000 })], []],
  ])('%s', (_, now, news, actions) => {
    expect(planned(now, ...news)).toEqual(actions);
  });

  test('scenario 28: a changed address is another server: sessions at the old one drain', () => {
    expect(planned(600, aList(500, 'pg-1', MOVED))).toEqual(['read pg-2 removed drain pg-2']);
    const answeredToo = [aList(500, 'pg-1', MOVED), isReplica('pg-2', 550)];
    expect(planned(600, ...answeredToo)).toEqual(['read pg-2 removed drain pg-2']);
  });

  describe('G10: a changed address of a member', () => {
    const SLOW = aPolicy({ pools: [aWritePool(), aPool({ onLeave: { ...aPool().onLeave, silent: 'drain' } })] });

    function atOldAddress(member: string, ...news: readonly Observation[]): readonly string[] {
      const before = aTable(SLOW, 1900, ...ROUND, ...news);
      const moved = aMember(member, { postgres: { host: '10.0.0.9', port: 5432 } });
      const list = aList(1950, ...['pg-1', 'pg-2'].map((name) => (name === member ? moved : name)));
      const actions = planActions(SLOW, before, aTable(SLOW, 2000, ...ROUND, ...news, list));
      return actions.flatMap(({ pool, cause, mode, why }) =>
        pool === 'read' || member === 'pg-1' ? `${pool} ${cause} ${mode} ${why.code} ${why.since ?? ''}`.trim() : [],
      );
    }

    test('that was silent: nobody is there, so the sessions at the old one end at once, for its silence', () => {
      expect(atOldAddress('pg-2', silent({ member: 'pg-2', at: 1000 }))).toEqual(['read silent close vanished 1000']);
    });

    test.each<[string, Observation]>([
      ['its PostgreSQL accepts', silent({ member: 'pg-2', at: 1000, postgres: 'accepts' })],
      ['only our machine is at fault', silent({ member: 'pg-2', at: 1000, cause: 'local' })],
      ['it answered since', isReplica('pg-2', 1500)],
    ])('of which %s: they drain', (_, news) => {
      expect(atOldAddress('pg-2', news)).toEqual(['read removed drain never_answered']);
    });

    test('that has none any more, and that was silent: they drain, and are not told of another address', () => {
      const news = silent({ member: 'pg-2', at: 1000 });
      const next = aTable(aPolicy({ pools: [aWritePool()] }), 2000, ...ROUND, news);
      const actions = planActions(SLOW, aTable(SLOW, 1900, ...ROUND, news), next);
      const own = actions.filter(({ member }) => member === 'pg-2');
      expect(own).toMatchObject([{ cause: 'removed', mode: 'drain' }]);
    });

    test('that is the primary: its write sessions end as those of a member that is gone, and none moves', () => {
      expect(atOldAddress('pg-1', silent({ at: 1000 }))).toContain('write removed close never_answered');
    });
  });

  test('the action carries the reason for the log', () => {
    const [action] = planActions(POLICY, BEFORE, aTable(POLICY, 1100, ...ROUND, answered({ at: 1000, status: 503 })));
    expect(action).toMatchObject({ kind: 'evict', why: { code: 'not_holding_the_check', detail: '/primary' } });
    const [moved] = planActions(POLICY, BEFORE, aTable(POLICY, 600, ...ROUND, aList(500, 'pg-1', MOVED)));
    expect(moved?.why).toEqual({ code: 'never_answered' });
  });

  test('a pool that the table before lacks has no session to act on', () => {
    const without = { ...BEFORE, pools: new Map([...BEFORE.pools].filter(([name]) => name !== 'write')) };
    expect(planActions(POLICY, without, BEFORE)).toEqual([]);
  });

  test('a pool that the next table lacks evicts its members', () => {
    const next = aTable(aPolicy({ pools: [aPool()] }), 200, ...ROUND);
    const actions = planActions(POLICY, BEFORE, next);
    expect(actions.map(({ pool, member, cause }) => `${pool} ${member} ${cause}`)).toEqual(['write pg-1 removed']);
  });
});

describe('a server of another system at the address', () => {
  const SOFT = { ...aPool().onLeave, removed: 'move', demoted: 'move', operator: 'keep' } as const;
  const MOVING = aPolicy({ pools: [aWritePool({ onLeave: SOFT }), aPool({ onLeave: SOFT })] });
  const US = { systemIdentifier: '7' };
  const OTHER = { systemIdentifier: '8' };
  const KNOWN = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0, US), isReplica('pg-2', 0, US)] as const;

  function step(pool: string, known: readonly Observation[], ...news: readonly Observation[]): readonly string[] {
    const before = aTable(MOVING, 1100, ...KNOWN, ...known);
    const actions = planActions(MOVING, before, aTable(MOVING, 2100, ...KNOWN, ...known, ...news));
    return actions.flatMap((one) => (one.pool === pool ? `${one.member} ${one.cause} ${one.mode} ${one.afterMs}` : []));
  }

  test('G3: its write sessions close at once, whatever `on_leave` says, and none of them moves', () => {
    expect(step('write', [], isPrimary('pg-1', 2000, OTHER))).toEqual(['pg-1 removed close 0']);
  });

  test('G3: so do those that were leaving between two transactions', () => {
    const demoted = answered({ at: 1000, status: 503, body: US });
    expect(step('write', [demoted], isPrimary('pg-1', 2000, OTHER))).toEqual(['pg-1 removed close 0']);
  });

  test('scenario 28: read sessions leave as `on_leave` says', () => {
    expect(step('read', [], isReplica('pg-2', 2000, OTHER))).toEqual(['pg-2 removed move 0']);
  });
});

describe('a member that is already excluded', () => {
  const lagging = aTable(POLICY, 2100, ...ROUND, lags(1000), lags(2000));
  const tagged = aTable(POLICY, 1100, ...ROUND, isReplica('pg-2', 1000, { noloadbalance: true }));

  test('gets no second action for the same cause', () => {
    const still = aTable(POLICY, 3100, ...ROUND, lags(1000), lags(2000), lags(3000), isPrimary('pg-1', 3000));
    expect(planActions(POLICY, lagging, still)).toEqual([]);
  });

  test('gets a close when it dies, although its lag had left its sessions open', () => {
    const died = aTable(POLICY, 3100, ...ROUND, lags(1000), lags(2000), refused({ member: 'pg-2', at: 3000 }));
    expect(planActions(POLICY, lagging, died)).toMatchObject([{ member: 'pg-2', cause: 'dead', mode: 'close' }]);
  });

  test('gets a close when it dies during its drain', () => {
    const died = aTable(POLICY, 2100, ...ROUND, refused({ member: 'pg-2', at: 2000 }));
    expect(planActions(POLICY, tagged, died)).toMatchObject([{ member: 'pg-2', cause: 'dead', mode: 'close' }]);
  });

  test('gets no weaker action than before', () => {
    expect(planActions(POLICY, tagged, lagging)).toEqual([]);
  });
});

describe('sessions of one member that belong on another', () => {
  const POOLS = [
    aWritePool(),
    aPool({ fallback: { pool: 'write', maxSessions: 9 }, onLeave: { ...aPool().onLeave, lagging: 'drain_idle' } }),
  ];
  const THREE = aPolicy({ pools: POOLS });
  const ALL = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isPrimary('pg-1', 0), isReplica('pg-2', 0), isReplica('pg-3', 0)];
  const lagging = [lags(1000), lags(2000)];
  const isGone = refused({ member: 'pg-3', at: 2000 });

  function after(before: readonly Observation[], ...news: readonly Observation[]): readonly string[] {
    const tables = [aTable(THREE, 2100, ...ALL, ...before), aTable(THREE, 4100, ...ALL, ...before, ...news)] as const;
    return planActions(THREE, ...tables)
      .filter(({ pool, cause }) => pool === 'read' && cause !== 'dead')
      .map(({ member, cause, mode, afterMs }) => `${member} ${cause} ${mode} after ${afterMs}`);
  }

  test('drain from a lagging member after a while, if another one is eligible', () => {
    expect(after([], ...lagging)).toEqual(['pg-2 lagging drain_idle after 3000']);
  });

  test('stay while only the fallback is left, and drain as soon as a member is eligible', () => {
    expect(after([isGone], ...lagging)).toEqual(['pg-2 lagging keep after 0']);
    expect(after([...lagging, isGone], isReplica('pg-3', 4000))).toEqual([
      'pg-1 fallback_over drain after 3000',
      'pg-2 lagging drain_idle after 3000',
    ]);
  });

  test('stay while the only other member has missed a probe', () => {
    const suspect = silent({ member: 'pg-3', at: 2000 });
    expect(after([], ...lagging, suspect)).toEqual(['pg-2 lagging keep after 0']);
  });

  test('drain from a member that was promoted', () => {
    const promoted = [isPrimary('pg-2', 4000, { timeline: 2 }), isReplica('pg-3', 4000, { timeline: 2 })];
    expect(after([], refused({ at: 4000 }), ...promoted)).toEqual(['pg-2 promoted drain after 0']);
  });

  test('drain from a member that lagged before, and is the fallback now: it left the pool for its lag', () => {
    const promoted = [isPrimary('pg-2', 4000, { timeline: 2 }), isReplica('pg-3', 4000, { timeline: 2 })];
    expect(after(lagging, refused({ at: 4000 }), ...promoted)).toEqual(['pg-2 fallback_over drain after 3000']);
  });

  test('stay on a promoted member while no other is eligible, and drain from it later', () => {
    const promoted = [refused({ at: 2000 }), isPrimary('pg-2', 2000, { timeline: 2 })];
    expect(after([isGone], ...promoted)).toEqual([]);
    expect(after([isGone, ...promoted], isReplica('pg-3', 4000, { timeline: 2 }))).toEqual([
      'pg-2 fallback_over drain after 3000',
    ]);
  });

  test('drain at once, to any member, from a primary that another one has replaced', () => {
    const isOld = isPrimary('pg-2', 4000, { timeline: 1 });
    expect(after([isGone], isOld, isPrimary('pg-1', 4000, { timeline: 2 }))).toEqual(['pg-2 promoted drain after 0']);
  });
});

test('the table before any observation holds every pool and asks for no action', () => {
  const empty = emptyTable(POLICY, emptySnapshot('lab'), 0);
  expect([...empty.pools.values()].map(({ route }) => route)).toEqual([
    { kind: 'hold', cause: 'starting' },
    { kind: 'hold', cause: 'starting' },
  ]);
  expect(planActions(POLICY, empty, BEFORE)).toEqual([]);
});

test('planActions(t, t) is empty', () => {
  const snapshot = aSnapshot(POLICY, ...ROUND, refused({ at: 1000 }));
  const table = decideRoutes(POLICY, snapshot, 1100);
  expect(planActions(POLICY, table, table)).toEqual([]);
});

// The order of restarts after a change of the five limits that a standby must not have lower than the primary.
import { describe, expect, test } from 'vitest';
import type { GivenOrder } from '../../../src/cluster/control.ts';
import type { ClusterReport, MemberReport } from '../../../src/documents/cluster-documents.ts';
import { orderFault, restartOrder } from '../../../src/cluster/restart-order.ts';
import type { ParameterChange } from '../../../src/patroni/restart-state.ts';

type Changes = Readonly<Record<string, ParameterChange>>;

function change(old_value: string | null, new_value: string | null): ParameterChange {
  return { old_value, new_value };
}

const RAISED = { max_connections: change('100', '200') };
const LOWERED = { max_connections: change('200', '100') };

function member(name: string, role: string, reason?: Changes): MemberReport {
  const pending = reason === undefined ? { pending_restart: false } : { pending_restart: true };
  return {
    name,
    role,
    state: 'running',
    api: null,
    postgres: null,
    timeline: 1,
    lag_bytes: null,
    wal_position: null,
    indicators: [],
    tags: {},
    ...pending,
    ...(reason === undefined ? {} : { pending_restart_reason: reason }),
  };
}

/** pg-1 leads. */
function report(...reasons: readonly (Changes | undefined)[]): ClusterReport {
  return {
    scope: 'demo',
    paused: false,
    leader: 'pg-1',
    members: reasons.map((reason, i) => member(`pg-${i + 1}`, i === 0 ? 'leader' : 'replica', reason)),
    reports_restarts: true,
    scheduled_switchover: null,
    refused_members: [],
  };
}

const order = (...reasons: readonly (Changes | undefined)[]) =>
  restartOrder(report(...reasons))?.map(({ members }) => members);

describe('the order', () => {
  test('raised: the standbys first, the primary last', () => {
    expect(order(RAISED, RAISED, RAISED)).toEqual([['pg-2', 'pg-3'], ['pg-1']]);
    expect(restartOrder(report(RAISED, RAISED))?.[0]?.why).toContain('max_connections is raised');
  });

  test('lowered: the primary first, the standbys after it', () => {
    expect(order(LOWERED, LOWERED, LOWERED)).toEqual([['pg-1'], ['pg-2', 'pg-3']]);
  });

  test('one raised and one lowered: the standbys restart twice', () => {
    const both = { ...RAISED, max_wal_senders: change('20', '10') };
    expect(order(both, both)).toEqual([['pg-2'], ['pg-1'], ['pg-2']]);
  });

  test('members that disagree on the new value: as for a raised one', () => {
    expect(order(LOWERED, RAISED, RAISED)).toEqual([['pg-2', 'pg-3'], ['pg-1']]);
    expect(wrongOrder(report(LOWERED, RAISED), 'pg-1')).toContain('max_connections is raised');
    expect(wrongOrder(report(LOWERED, RAISED), 'pg-2')).toBeUndefined();
  });

  test('any other parameter: the standbys first, so that the primary restarts last', () => {
    const other = { shared_buffers: change('128MB', '256MB') };
    expect(order(other, other)).toEqual([['pg-2'], ['pg-1']]);
    expect(restartOrder(report(other, other))?.[0]?.why).not.toContain('raised');
  });

  test('only members that need a restart', () => {
    expect(order(RAISED, undefined, RAISED)).toEqual([['pg-3'], ['pg-1']]);
    expect(order(undefined, undefined)).toEqual([]);
  });

  test('before a change is applied: every member, by the change that is expected', () => {
    const steps = restartOrder(report(undefined, undefined), { expected: LOWERED });
    expect(steps?.map(({ members }) => members)).toEqual([['pg-1'], ['pg-2']]);
    expect(restartOrder(report(undefined, undefined), { expected: { work_mem: change('4MB', '8MB') } })).toEqual([]);
  });
});

function wrongOrder(of: ClusterReport, name: string): string | undefined {
  const fault = orderFault(of, name);
  return fault?.kind === 'wrong' ? fault.why : fault?.kind;
}

describe('a restart in the wrong order', () => {
  test('raised: the primary waits until no standby is below it', () => {
    expect(wrongOrder(report(RAISED, RAISED, RAISED), 'pg-1')).toContain('restart the standbys first (pg-2, pg-3)');
    expect(wrongOrder(report(RAISED, undefined, RAISED), 'pg-1')).toContain('first (pg-3)');
    expect(wrongOrder(report(RAISED, undefined, undefined), 'pg-1')).toBeUndefined();
    expect(wrongOrder(report(RAISED, RAISED, RAISED), 'pg-2')).toBeUndefined();
  });

  test('lowered: a standby waits for the primary', () => {
    expect(wrongOrder(report(LOWERED, LOWERED), 'pg-2')).toContain('restart the primary first (pg-1)');
    expect(wrongOrder(report(LOWERED, LOWERED), 'pg-1')).toBeUndefined();
    expect(wrongOrder(report(undefined, LOWERED), 'pg-2')).toBeUndefined();
  });

  test.each<[string, Changes]>([
    ['another parameter', { shared_buffers: change('1', '2') }],
    ['a value that stays', { max_connections: change('100', '100') }],
  ])('nothing is refused for %s', (_, reason) => {
    for (const name of ['pg-1', 'pg-2', 'pg-9']) expect(wrongOrder(report(reason, reason), name)).toBeUndefined();
  });

  test('one raised and one lowered: the standby comes first', () => {
    const both = { ...RAISED, max_wal_senders: change('20', '10') };
    expect(wrongOrder(report(both, both), 'pg-2')).toBeUndefined();
    expect(wrongOrder(report(both, both), 'pg-1')).toContain('restart the standbys first (pg-2)');
  });
});

describe('values that the members do not report', () => {
  const UNKNOWN = {};

  test.each<[string, Changes]>([
    ['Patroni before 3.3', UNKNOWN],
    ['one value', { max_connections: change(null, '200') }],
    ['no numbers', { max_connections: change('many', 'more') }],
  ])('%s: no order is chosen, and neither side restarts before the other', (_, reason) => {
    const found = report(reason, reason, undefined);
    expect(restartOrder(found)).toBeUndefined();
    for (const name of ['pg-1', 'pg-2']) {
      expect(orderFault(found, name)).toEqual({ kind: 'unknown', why: expect.stringContaining('pg-1 (the primary)') });
    }
    expect(orderFault(found, 'pg-3')).toBeUndefined();
  });

  test('one side alone needs a restart: nothing is unknown', () => {
    expect(orderFault(report(UNKNOWN, undefined), 'pg-1')).toBeUndefined();
    expect(orderFault(report(undefined, UNKNOWN), 'pg-2')).toBeUndefined();
    expect(order(undefined, UNKNOWN)).toEqual([['pg-2']]);
  });

  test('the order that is given counts, in both directions', () => {
    const found = report(UNKNOWN, UNKNOWN);
    const given = (first: GivenOrder) => restartOrder(found, { order: first })?.map(({ members }) => members);
    expect(given('primary_first')).toEqual([['pg-1'], ['pg-2']]);
    expect(given('standbys_first')).toEqual([['pg-2'], ['pg-1']]);
    expect(orderFault(found, 'pg-1', 'primary_first')).toBeUndefined();
    expect(orderFault(found, 'pg-2', 'primary_first')).toMatchObject({ kind: 'wrong' });
    expect(orderFault(found, 'pg-1', 'standbys_first')).toMatchObject({ kind: 'wrong' });
    expect(orderFault(found, 'pg-2', 'standbys_first')).toBeUndefined();
  });

  test('what members report outweighs the order that is given', () => {
    expect(orderFault(report(RAISED, RAISED), 'pg-1', 'primary_first')).toMatchObject({ kind: 'wrong' });
    expect(orderFault(report(LOWERED, LOWERED), 'pg-2', 'standbys_first')).toMatchObject({ kind: 'wrong' });
  });

  test('a primary of an older version: the standbys know enough', () => {
    expect(wrongOrder(report(UNKNOWN, LOWERED), 'pg-2')).toContain('restart the primary first (pg-1)');
    expect(wrongOrder(report(UNKNOWN, RAISED), 'pg-1')).toContain('restart the standbys first (pg-2)');
    expect(order(UNKNOWN, RAISED)).toEqual([['pg-2'], ['pg-1']]);
  });
});

const expected = (of: ClusterReport, old: string | null, now: string | null) =>
  restartOrder(of, { expected: { max_connections: change(old, now) } })?.map(({ members }) => members);

describe('a change that is not applied yet', () => {
  test('a value that is removed becomes the default', () => {
    expect(expected(report(undefined, undefined), '200', null)).toEqual([['pg-1'], ['pg-2']]);
    expect(expected(report(undefined, undefined), null, '50')).toEqual([['pg-1'], ['pg-2']]);
    expect(expected(report(undefined, undefined), null, '200')).toEqual([['pg-2'], ['pg-1']]);
  });

  test('the value in use counts, not the one of the configuration', () => {
    // 200 in use, 100 configured and pending: 150 lowers it.
    expect(expected(report(LOWERED, LOWERED), '100', '150')).toEqual([['pg-1'], ['pg-2']]);
    expect(expected(report({}, {}), '100', '150')).toBeUndefined();
  });
});

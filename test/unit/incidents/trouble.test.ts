// Which events are trouble.
import { expect, test } from 'vitest';
import { TroubleWatch } from '../../../src/incidents/trouble.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { routeChange } from '../../support/fakes/incident-lab.ts';

const isExclusive = (pool: string): boolean => pool === 'write';

function kindsOf(...events: readonly (ReportedEvent | number)[]): readonly string[] {
  const watch = new TroubleWatch(isExclusive);
  let now = 0;
  const found: string[] = [];
  for (const event of events) {
    if (typeof event === 'number') {
      now += event;
      found.push(...watch.tick(now));
    } else found.push(...watch.take(event, now));
  }
  return found;
}

const probe = (member: string, outcome: string): ReportedEvent => ({
  kind: 'probe_finished',
  member,
  check: '/primary',
  outcome,
  detail: undefined,
  durationMs: 1,
});

const evicted: ReportedEvent = {
  kind: 'session_closed',
  pool: 'read',
  session: 1,
  member: 'pg-2',
  client: '10.0.0.1:1',
  reason: 'evicted_dead',
  detail: undefined,
  durationMs: 1,
  toBackendBytes: 0,
  toClientBytes: 0,
};

const late = (result: 'moved' | 'error' | 'stale', count: number): ReportedEvent => ({
  kind: 'reads_late',
  pool: 'read',
  member: 'pg-3',
  result,
  readsScope: 'cluster',
  count,
  why: 'pg-3 is behind pg-1.',
});

const twoPrimaries: ReportedEvent = {
  kind: 'route_changed',
  pool: 'write',
  from: undefined,
  to: { kind: 'hold', cause: 'two_primaries' },
};

const borrowed: ReportedEvent = {
  kind: 'route_changed',
  pool: 'read',
  from: undefined,
  to: {
    kind: 'open',
    targets: [{ member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } }],
    fallback: { pool: 'write', maxSessions: 10 },
  },
};

test.each<[string, (ReportedEvent | number)[], string[]]>([
  ['the primary is lost', [routeChange('write', 'pg-1'), routeChange('write')], ['primary_lost']],
  ['it changes at once', [routeChange('write', 'pg-1'), routeChange('write', 'pg-2')], ['primary_changed']],
  [
    'it is lost and changes',
    [routeChange('write', 'pg-1'), routeChange('write'), routeChange('write', 'pg-2')],
    ['primary_lost', 'primary_changed'],
  ],
  ['the first primary is no change', [routeChange('write'), 5_000, routeChange('write', 'pg-1')], []],
  ['no primary ten seconds after the start', [routeChange('write'), 10_000, 10_000], ['no_primary_usable']],
  ['two primaries', [routeChange('write', 'pg-1'), twoPrimaries, twoPrimaries], ['two_primaries']],
  ['a read pool is empty', [routeChange('read', 'pg-2'), routeChange('read')], ['read_pool_empty']],
  ['another pool helps out', [routeChange('read', 'pg-2'), borrowed, routeChange('read')], ['read_pool_empty']],
  ['a read pool that never had a member', [borrowed, routeChange('read')], []],
  ['all are silent', [probe('a', 'yes'), probe('a', 'timeout'), probe('a', 'refused')], ['all_members_silent']],
  ['one of two is silent', [probe('b', 'no'), ...Array.from({ length: 9 }, () => probe('a', 'timeout'))], []],
  ['a fault of our own is no silence', Array.from({ length: 9 }, () => probe('a', 'local')), []],
  ['many late reads', [late('error', 1), late('stale', 9), late('error', 9)], ['reads_late']],
  ['late reads that moved', [late('moved', 100), late('error', 9), 10_001, late('error', 9)], []],
  ['many evictions', Array.from({ length: 15 }, () => evicted), ['sessions_evicted']],
  ['a few evictions', [...Array.from({ length: 9 }, () => evicted), 10_001, evicted], []],
])('%s', (_, events, kinds) => {
  expect(kindsOf(...events)).toEqual(kinds);
});

test('trouble goes on until the pool has a route of its own again', () => {
  const watch = new TroubleWatch(isExclusive);
  const after = (event: ReportedEvent): boolean => {
    watch.take(event, 0);
    return watch.isGoingOn();
  };
  expect([routeChange('read', 'pg-2'), borrowed, routeChange('read', 'pg-2')].map(after)).toEqual([false, true, false]);
});

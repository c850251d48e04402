// The parts of the status document about members in their pools.
import { describe, expect, test } from 'vitest';
import { poolPart } from '../../../src/admin/status-of-pools.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import {
  aList,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
  MB,
} from '../../support/values/builders.ts';
import { NO_RESULTS } from '../../../src/reports/causal-reads.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const policy = aPolicy();
const NOW = 4000;

describe('lag, weights, zones and waiting clients', () => {
  const tags = new Map([
    ['zone', 'eu-2'],
    ['weight', '3'],
  ]);
  const read = aPool({ weightTag: 'weight', zoneTag: 'zone' });
  const pools = [aWritePool(), read];
  const lagging = [
    aList(0, 'pg-1', 'pg-2'),
    isPrimary('pg-1', 3000, { location: 100 * MB }),
    isReplica('pg-2', 3500, { replayed: 60 * MB, tags }, read.check.text),
  ];
  const table = decideRoutes({ ...policy, pools, zone: 'eu-1' }, aSnapshot({ ...policy, pools }, ...lagging), NOW);
  const idle = { startup: 0, dialing: 0, relaying: 0, closing: 0 };
  const none = {
    fallbackSessions: 0,
    laggingSessions: 0,
    accepted: 0,
    started: 0,
    closed: 0,
    toBackendBytes: 0,
    toClientBytes: 0,
  };
  const refusing = new Map([['pg-1', { since: 1000, at: 3600, count: 101, sqlState: '53300' }]]);
  const counts = new Map([
    ['write', { states: { ...idle, holding: 1 }, members: new Map(), ...none, heldSince: 1500, refusing }],
  ]);
  const status = buildStatus({
    ...STATUS_BASICS,
    now: NOW,
    pools,
    zone: 'eu-1',
    table,
    snapshot: aSnapshot({ ...policy, pools }, ...lagging),
    counts,
    moves: { parkTimeoutMs: 20_000 },
  });

  test('what a drain does to the sessions of a pool, and the longest wait of a parked one', () => {
    expect(status.pools.map(({ on_drain: mode }) => mode)).toEqual(pools.map(({ onLeave }) => onLeave.operator));
    expect(status.limits.park_seconds).toBe(20);
  });

  test('an excluded member has them too', () => {
    const [primary, replica] = status.members;
    expect([primary?.lag_bytes, replica?.lag_bytes]).toEqual([null, 40 * MB]);
    expect(replica?.pools['read']).toMatchObject({ standing: 'leave', weight: 3, zone: 'eu-2', far: true });
    expect(replica?.pools['write']).toMatchObject({ weight: 1, zone: null, far: false });
  });

  test('causal reads: those that wait, the late ones of the last minute as a notice too, and the waits', () => {
    const lastMinute = {
      results: { ...NO_RESULTS, free: 4, waited: 60, moved: 300, error: 40 },
      waitedMs: 170_040,
      longestMs: 500.25,
      lateOn: new Map([['pg-2', 340]]),
    };
    const { results } = lastMinute;
    const reads = { results: { ...results, free: 9 }, waitedMs: 200_000, waits: [], waiting: 3, lastMinute };
    const { pools: parts, notices } = buildStatus({
      ...STATUS_BASICS,
      now: NOW,
      pools: [aWritePool(), { ...read, causalReads: { scope: 'proxy', waitMs: 500, late: 'error' } }],
      table,
      snapshot: aSnapshot({ ...policy, pools }, ...lagging),
      counts: new Map([['read', { states: { ...idle, holding: 0 }, members: new Map(), ...none, causalReads: reads }]]),
    });
    expect(parts.map(({ causal_reads: part }) => part)).toEqual([
      undefined,
      {
        scope: 'proxy',
        waiting: 3,
        results: reads.results,
        last_minute: {
          results,
          late: 340,
          late_on: { 'pg-2': 340 },
          mean_wait_seconds: 0.4251,
          longest_wait_seconds: 0.50025,
        },
      },
    ]);
    expect(notices).toContainEqual({
      level: 'warning',
      about: 'late reads',
      text: '340 reads of pool read were late on pg-2 in the last minute: 300 moved, 40 refused.',
      pool: 'read',
    });
  });

  test('how long the oldest waiting client of a pool waits', () => {
    expect(status.pools[0]?.sessions).toMatchObject({ by_state: { holding: 1 }, longest_wait_seconds: 2.5 });
  });

  test('the members that refuse logins, as a notice too', () => {
    const text = '53300, too many connections';
    const refused = { sqlstate: '53300', text, count: 101, for_seconds: 3, last_seconds: 0.4 };
    expect(status.pools[0]?.sessions?.refused_logins).toEqual({ 'pg-1': refused });
    expect(status.notices).toContainEqual({
      level: 'warning',
      about: 'logins refused',
      text: `pg-1 refuses logins of pool write: ${text} (101 in 3 s).`,
      pool: 'write',
    });
  });

  test('the part about one pool', () => {
    expect(poolPart(status, 'none')).toBeUndefined();
    const part = poolPart(status, 'read');
    expect(part?.pool).toBe(status.pools[1]);
    expect(part?.members.map(({ name, standing, lag_bytes: lag }) => [name, standing, lag])).toEqual([
      ['pg-1', 'leave', null],
      ['pg-2', 'leave', 40 * MB],
    ]);
  });
});

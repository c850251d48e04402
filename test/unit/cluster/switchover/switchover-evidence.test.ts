// The progress of a switchover, by the table and the snapshot alone.
import { describe, expect, test } from 'vitest';
import {
  cameBack,
  isRefusal,
  nextPrimary,
  whyNotPrimary,
  whyPointless,
} from '../../../../src/cluster/switchover/switchover-evidence.ts';
import type { OwnKnowledge } from '../../../../src/cluster/switchover/plan.ts';
import { decideRoutes } from '../../../../src/core/decide-routes.ts';
import type { Role } from '../../../../src/model/member-status.ts';
import type { Observation } from '../../../../src/model/observation.ts';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import {
  aList,
  answered,
  aPolicy,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
} from '../../../support/values/builders.ts';

const MEMBERS = aList(0, 'pg-1', 'pg-2');
const HOLD = { clientTimeoutMs: 30_000, maxSessions: 100, outageTimeoutMs: 60_000, maxConnectsPerSecond: 200 };
/** A second pool of the primary, with a check of its own. */
const WRITABLE = '/read-write';
const TWO_POOLS = [aWritePool({ name: 'writable', check: WRITABLE }), aWritePool()];

function known(pools: readonly PoolPolicy[], ...news: readonly Observation[]): OwnKnowledge {
  const policy = aPolicy({ pools });
  const snapshot = aSnapshot(policy, MEMBERS, ...news);
  return {
    policy: { ...policy, hold: { ...policy.hold, ...HOLD } },
    snapshot,
    table: decideRoutes(policy, snapshot, 500),
  };
}

function says(member: string, status: 200 | 503, at: number, check: string, role: Role = 'replica'): Observation {
  return answered({ member, status, at, check, body: { role, state: 'running', timeline: 1 } });
}

/** The primary, and not writable. */
function isReadOnly(member: string, at: number): Observation {
  return says(member, 503, at, WRITABLE, 'primary');
}

describe('the next primary', () => {
  test('is the one of any pool of the primary', () => {
    const isNone = says('pg-1', 503, 0, WRITABLE, 'replica');
    const own = known(TWO_POOLS, isNone, says('pg-1', 503, 0, '/primary'), isPrimary('pg-2', 0), isReadOnly('pg-2', 0));
    expect(nextPrimary(own, 'pg-1')).toBe('pg-2');
    expect(nextPrimary(own, 'pg-2')).toBeUndefined();
  });
});

describe('the primary is one no longer', () => {
  test('by one of its checks, not by a check that has no answer yet', () => {
    const asked = [isPrimary('pg-1', 0)];
    expect(whyNotPrimary(known(TWO_POOLS, ...asked), 'pg-1')).toBeUndefined();
    expect(whyNotPrimary(known(TWO_POOLS, ...asked, isReadOnly('pg-1', 0)), 'pg-1')).toBe(
      'pg-1 does not answer as the primary any more',
    );
  });

  test('because nobody lists it any more', () => {
    const own = known(TWO_POOLS, isPrimary('pg-1', 0));
    expect(whyNotPrimary(own, 'pg-9')).toBe('pg-9 is no member any more');
    expect(cameBack(own, 'pg-9', 0)).toBe(false);
  });
});

describe('the primary came back', () => {
  test.each([
    ['it never stepped down', [isPrimary('pg-1', 0), isPrimary('pg-1', 300)], false],
    ['it stepped down', [isPrimary('pg-1', 0), says('pg-1', 503, 300, '/primary')], false],
    ['it has not answered', [], false],
    ['again for one of its pools', [says('pg-1', 503, 200, '/primary'), isPrimary('pg-1', 300)], true],
    ['at the moment of the request', [isPrimary('pg-1', 100)], false],
    [
      'it was asked in two pools',
      [isPrimary('pg-1', 0), says('pg-1', 503, 200, '/primary'), isPrimary('pg-1', 300), isReadOnly('pg-1', 300)],
      true,
    ],
    ['and stepped down again', [isPrimary('pg-1', 200), says('pg-1', 503, 300, '/primary')], false],
  ])('%s', (_, news, isBack) => {
    expect(cameBack(known(TWO_POOLS, ...news), 'pg-1', 100)).toBe(isBack);
    expect(cameBack(known(TWO_POOLS, ...news), 'pg-1', undefined), 'nobody saw it step down').toBe(false);
  });
});

describe('a request is pointless', () => {
  const round = [isPrimary('pg-1', 0), isReplica('pg-2', 0)];

  test('when the next primary that was asked for is no member any more', () => {
    const own = known([aWritePool()], ...round);
    expect(whyPointless(own, 'pg-1', 'pg-9')).toBe('pg-9 went down; no request was sent');
  });

  test.each([undefined, 'pg-2'])('not while the cluster can follow it, to %s', (to) => {
    expect(whyPointless(known([aWritePool()], ...round), 'pg-1', to)).toBeUndefined();
  });
});

test('an answer refuses the request unless the switch may be under way', () => {
  expect(isRefusal({ kind: 'done', text: 'Done.', reason: '' })).toBe(false);
  expect(isRefusal({ kind: 'scheduled', text: 'Accepted.', reason: '' })).toBe(false);
  expect(isRefusal({ kind: 'invalid', status: 400, text: 'No.', reason: '' })).toBe(true);
  expect(isRefusal({ kind: 'failed', status: 503, text: 'No.', reason: 'Switchover failed' })).toBe(true);
});

test.each([
  [503, 'Switchover status unknown'],
  [502, '<h1>Bad Gateway</h1>'],
  [504, 'upstream request timeout'],
])('a status of %i with `%s` says nothing about the switch', (status, reason) => {
  expect(isRefusal({ kind: 'failed', status, text: 'Failed.', reason })).toBe(false);
});

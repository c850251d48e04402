// G12: an unsent probe is no silence of the member.
import { describe, expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aPolicy,
  aSnapshot,
  isPrimary,
  isReplica,
  WRITE_CHECK,
  READ_CHECK,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const { silenceGraceMs: GRACE, writeMaxAgeMs: FRESH } = POLICY.probe;

function failed(member: string, check: string, at: number, isUnsent: boolean): Observation {
  const cause = isUnsent ? ('local' as const) : ('timeout' as const);
  const outcome = { kind: 'failed' as const, cause, detail: 'x', isUnsent, postgres: 'unknown' as const };
  return { kind: 'probe', member, check, startedAt: at, outcome };
}

/** An answer at 1000, then one probe each second from 2000 on: `u` was not sent, `t` timed out. */
function standingsAt(now: number, probes: string): readonly unknown[] {
  const observations: Observation[] = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 1000), isReplica('pg-2', 1000)];
  probes.split('').forEach((kind, index) => {
    const at = 2000 + 1000 * index;
    observations.push(failed('pg-1', WRITE_CHECK, at, kind === 'u'), failed('pg-2', READ_CHECK, at, kind === 'u'));
  });
  const { pools } = decideRoutes(POLICY, aSnapshot(POLICY, ...observations), now);
  return [pools.get('write')?.standings.get('pg-1')?.kind, pools.get('read')?.standings.get('pg-2')?.kind];
}

describe('live sessions of a member', () => {
  test('stay while no probe can be sent, and no new session comes', () => {
    const now = 1000 + 10 * GRACE;
    expect(standingsAt(now, 'u'.repeat(10))).toEqual(['keep', 'keep']);
    expect(1000 + FRESH).toBeLessThan(now);
  });

  test('end by its silence after probes without an answer', () => {
    expect(standingsAt(1000 + GRACE, 't')).toEqual(['leave', 'leave']);
    expect(standingsAt(1000 + GRACE - 1, 't')).toEqual(['keep', 'keep']);
  });

  test('end by its silence, without the time of unsent probes', () => {
    // No probe was sent from 2000 to 12000.
    for (const probes of [`${'u'.repeat(10)}t`, `${'u'.repeat(10)}ttt`]) {
      expect(standingsAt(1000 + GRACE + 9_999, probes)).toEqual(['keep', 'keep']);
      expect(standingsAt(1000 + GRACE + 10_000, probes)).toEqual(['leave', 'leave']);
    }
  });

  test('that ended by its silence do not come back because later probes are not sent', () => {
    const late = 't'.repeat(GRACE / 1000 + 1);
    expect(standingsAt(2000 + GRACE + 5000, `${late}u`)).toEqual(['leave', 'leave']);
    const lastMoment = 't'.repeat(GRACE / 1000 - 1);
    expect(standingsAt(1000 + GRACE, `${lastMoment}u`), 'in the moment in which they end').toEqual(['leave', 'leave']);
  });

  test('start anew after an answer', () => {
    const observations = [aList(0, 'pg-1'), isPrimary('pg-1', 1000), failed('pg-1', WRITE_CHECK, 2000, true)];
    const snapshot = aSnapshot(
      POLICY,
      ...observations,
      isPrimary('pg-1', 3000),
      failed('pg-1', WRITE_CHECK, 4000, false),
    );
    const standing = decideRoutes(POLICY, snapshot, 3000 + GRACE)
      .pools.get('write')
      ?.standings.get('pg-1');
    expect(standing?.kind).toBe('leave');
  });
});

import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../../src/sandbox/manager/cluster-settings.ts';
import { candidates, isDue, msUntil, whyNobodyIsGood } from '../../../../src/sandbox/manager/switchover-plan.ts';
import { whyNoFailover, whyNoSwitchover } from '../../../../src/sandbox/manager/switchover-plan.ts';
import type { SwitchoverRequest } from '../../../../src/sandbox/manager/operation-outcomes.ts';
import { aCluster, aMember } from './lab.ts';

const SETTINGS = readSettings({});
const PAUSED = readSettings({ pause: true });

function request(changes: Partial<SwitchoverRequest> = {}): SwitchoverRequest {
  return { leader: 'pg-1', candidate: undefined, scheduledAt: undefined, ...changes };
}

describe('a switchover', () => {
  it('is possible from the leader to another member', () => {
    expect(whyNoSwitchover(request(), aCluster(), SETTINGS)).toBeUndefined();
    expect(whyNoSwitchover(request({ candidate: 'pg-3' }), aCluster(), SETTINGS)).toBeUndefined();
  });

  it.each([
    [{ leader: 'pg-2' }, 'leader name does not match'],
    [{ candidate: 'pg-9' }, 'candidate does not exist'],
  ])('is refused: %j', (changes, text) => {
    expect(whyNoSwitchover(request(changes), aCluster(), SETTINGS)).toEqual({ kind: 'refused', text });
  });

  it('is refused without a leader and without another member', () => {
    expect(whyNoSwitchover(request(), aCluster({ leader: undefined }), SETTINGS)).toMatchObject({ kind: 'refused' });
    const alone = aCluster({ members: [aMember('pg-1')] });
    expect(whyNoSwitchover(request(), alone, SETTINGS)).toEqual({
      kind: 'refused',
      text: 'switchover is not possible: cluster does not have members except leader',
    });
  });

  it('is invalid to itself, and impossible while paused without a candidate or with a schedule', () => {
    expect(whyNoSwitchover(request({ candidate: 'pg-1' }), aCluster(), SETTINGS)).toMatchObject({ kind: 'invalid' });
    expect(whyNoSwitchover(request(), aCluster(), PAUSED)).toMatchObject({ kind: 'paused' });
    expect(whyNoSwitchover(request({ candidate: 'pg-2' }), aCluster(), PAUSED)).toBeUndefined();
    const later = request({ candidate: 'pg-2', scheduledAt: '2030-01-01T00:00:00Z' });
    expect(whyNoSwitchover(later, aCluster(), PAUSED)).toMatchObject({ kind: 'paused' });
  });

  it('goes to a synchronous standby only, in synchronous mode', () => {
    const settings = readSettings({ synchronous_mode: true });
    const cluster = aCluster({ synchronous: ['pg-3'] });
    expect(candidates(undefined, cluster, settings)).toEqual(['pg-3']);
    expect(whyNoSwitchover(request({ candidate: 'pg-2' }), cluster, settings)).toEqual({
      kind: 'refused',
      text: 'candidate name does not match with sync_standby',
    });
    expect(whyNoSwitchover(request(), aCluster(), settings)).toMatchObject({ kind: 'refused' });
  });
});

it('a failover is possible without a leader, to an existing member that does not lead', () => {
  expect(whyNoFailover('pg-2', aCluster({ leader: undefined }))).toBeUndefined();
  expect(whyNoFailover('pg-1', aCluster())).toMatchObject({ kind: 'refused' });
  expect(whyNoFailover('pg-9', aCluster())).toEqual({ kind: 'refused', text: 'candidate does not exist' });
});

it('one member must answer with a position and without the tag nofailover', () => {
  const good = { name: 'pg-2', kind: 'answered', isPrimary: false, position: 5, isNoFailover: false } as const;
  expect(whyNobodyIsGood('switchover', [{ name: 'pg-3', kind: 'silent' }, good])).toBeUndefined();
  const text = 'switchover is not possible: no good candidates have been found';
  const bad = [
    { name: 'pg-3', kind: 'silent' } as const,
    { ...good, isNoFailover: true },
    { ...good, position: undefined },
  ];
  expect(whyNobodyIsGood('switchover', bad)).toEqual({ kind: 'refused', text });
});

it('a planned one is due at its time; one without a time at once', () => {
  const now = new Date('2026-07-01T10:00:00Z');
  const plan = { from: 'pg-1', to: undefined };
  expect(isDue({ ...plan, at: '2026-07-01T12:00:00+02:00' }, now)).toBe(true);
  expect(isDue({ ...plan, at: '2026-07-01T12:00:01+02:00' }, now)).toBe(false);
  expect(isDue({ ...plan, at: undefined }, now)).toBe(true);
  expect(msUntil('2026-07-01T10:00:01.500Z', now)).toBe(1500);
  expect(msUntil(undefined, now)).toBe(Number.POSITIVE_INFINITY);
});

import { describe, expect, it } from 'vitest';
import { hasDiverged, whyNot } from '../../../../src/sandbox/manager/election.ts';
import type { Contest, PeerAnswer } from '../../../../src/sandbox/manager/election.ts';
import { readSettings } from '../../../../src/sandbox/manager/cluster-settings.ts';
import type { TimelineHistoryEntry } from '../../../../src/sandbox/manager/view.ts';
import { aCluster } from './lab.ts';

function answer(name: string, changes: Partial<Extract<PeerAnswer, { kind: 'answered' }>> = {}): PeerAnswer {
  return { name, kind: 'answered', isPrimary: false, position: 1000, isNoFailover: false, ...changes };
}

const DEAD: PeerAnswer = { name: 'pg-1', kind: 'silent' };

function contest(changes: Partial<Contest> = {}): Contest {
  return {
    me: 'pg-2',
    position: 1000,
    tags: {},
    settings: readSettings({}),
    cluster: aCluster({ leader: undefined }),
    others: [DEAD, answer('pg-3')],
    ...changes,
  };
}

it('may lead if no answering member has more WAL, equals included', () => {
  expect(whyNot(contest())).toBeUndefined();
  expect(whyNot(contest({ others: [DEAD, answer('pg-3', { position: 999 })] }))).toBeUndefined();
  expect(whyNot(contest({ others: [DEAD, answer('pg-3', { position: undefined })] }))).toBeUndefined();
});

it('may not lead if another has more WAL, unless that one must not lead', () => {
  expect(whyNot(contest({ others: [answer('pg-3', { position: 1001 })] }))).toBe('pg-3 has more of the WAL');
  const barred = answer('pg-3', { position: 1001, isNoFailover: true });
  expect(whyNot(contest({ others: [barred] }))).toBeUndefined();
});

it('may not lead while another is still a primary', () => {
  expect(whyNot(contest({ others: [answer('pg-1', { isPrimary: true })] }))).toBe('pg-1 is still a primary');
});

it('may not lead with the tag nofailover', () => {
  expect(whyNot(contest({ tags: { nofailover: true } }))).toBe('it has the tag nofailover');
});

it('may lag behind the last leader by maximum_lag_on_failover and no byte more', () => {
  const cluster = aCluster({ leader: undefined, leaderPosition: 1000 + 1_048_576 });
  expect(whyNot(contest({ cluster }))).toBeUndefined();
  expect(whyNot(contest({ cluster, position: 999, others: [] }))).toContain('lags 1048577 bytes');
});

describe('in synchronous mode', () => {
  const settings = readSettings({ synchronous_mode: true });

  it('only a synchronous standby may lead; any member if there was none', () => {
    const cluster = aCluster({ leader: undefined, synchronous: ['pg-3'] });
    expect(whyNot(contest({ settings, cluster }))).toBe('it is not a synchronous standby');
    expect(whyNot(contest({ settings, cluster, me: 'pg-3' }))).toBeUndefined();
    expect(whyNot(contest({ settings, cluster: aCluster({ leader: undefined }) }))).toBeUndefined();
  });

  it('a quorum must answer: a commit is safe on only one of the voters', () => {
    const quorum = readSettings({ synchronous_mode: 'quorum' });
    const cluster = aCluster({ leader: undefined, quorum: ['pg-2', 'pg-3'] });
    expect(whyNot(contest({ settings: quorum, cluster }))).toBeUndefined();
    const alone = contest({ settings: quorum, cluster, others: [DEAD, { name: 'pg-3', kind: 'silent' }] });
    expect(whyNot(alone)).toContain('quorum');
    const outsider = { settings: quorum, cluster, me: 'pg-4' };
    expect(whyNot(contest({ ...outsider, others: [answer('pg-2')] }))).toContain('quorum');
    expect(whyNot(contest({ ...outsider, others: [answer('pg-2'), answer('pg-3')] }))).toBeUndefined();
  });
});

function ended(timeline: number, endedAt: number): TimelineHistoryEntry {
  return { timeline, endedAt, reason: '', createdAt: '', newLeader: '' };
}

it('has diverged if its WAL goes beyond the end of its timeline in the history', () => {
  const history = [ended(1, 500), ended(2, 900)];
  expect(hasDiverged({ timeline: 2, position: 901 }, history)).toBe(true);
  expect(hasDiverged({ timeline: 2, position: 900 }, history)).toBe(false);
  expect(hasDiverged({ timeline: 1, position: 501 }, history)).toBe(true);
  expect(hasDiverged({ timeline: 3, position: 5000 }, history)).toBe(false);
});

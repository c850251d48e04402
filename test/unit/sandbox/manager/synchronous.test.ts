import { expect, it } from 'vitest';
import { chooseSynchronous, publishable, standbyNames } from '../../../../src/sandbox/manager/synchronous.ts';
import { aCluster, aMember, aStandby } from './lab.ts';

const STREAMING = [aStandby('pg-2'), aStandby('pg-3')];

it('chooses one that streams, and keeps it', () => {
  expect(chooseSynchronous('on', STREAMING, aCluster())).toEqual({ synchronous: ['pg-2'], quorum: [] });
  const chosen = aCluster({ synchronous: ['pg-3'] });
  expect(chooseSynchronous('on', STREAMING, chosen)).toEqual({ synchronous: ['pg-3'], quorum: [] });
  const catchingUp = [aStandby('pg-2'), aStandby('pg-3', { state: 'catchup' })];
  expect(chooseSynchronous('on', catchingUp, chosen)).toEqual({ synchronous: ['pg-2'], quorum: [] });
});

it('passes over a member with the tag nosync, and a name that is no member', () => {
  const members = [aMember('pg-1'), aMember('pg-2', { tags: { nosync: true } }), aMember('pg-3')];
  const replication = [...STREAMING, aStandby('pg_basebackup')];
  expect(chooseSynchronous('quorum', replication, aCluster({ members })).quorum).toEqual(['pg-3']);
});

it('has all of them in a quorum, and none without the mode or without a standby', () => {
  expect(chooseSynchronous('quorum', STREAMING, aCluster())).toEqual({ synchronous: [], quorum: ['pg-2', 'pg-3'] });
  expect(chooseSynchronous('off', STREAMING, aCluster())).toEqual({ synchronous: [], quorum: [] });
  expect(chooseSynchronous('on', [], aCluster())).toEqual({ synchronous: [], quorum: [] });
});

it('becomes the text of synchronous_standby_names', () => {
  expect(standbyNames({ synchronous: ['pg-2'], quorum: [] })).toBe('FIRST 1 ("pg-2")');
  expect(standbyNames({ synchronous: [], quorum: ['pg-2', 'pg-3'] })).toBe('ANY 1 ("pg-2","pg-3")');
  expect(standbyNames({ synchronous: [], quorum: [] })).toBe('');
});

it('publishes a name when PostgreSQL waits for it', () => {
  const wanted = { synchronous: ['pg-2'], quorum: [] };
  expect(publishable(wanted, STREAMING).synchronous).toEqual([]);
  expect(publishable(wanted, [aStandby('pg-2', { sync_state: 'sync' })]).synchronous).toEqual(['pg-2']);
  const quorum = { synchronous: [], quorum: ['pg-2', 'pg-3'] };
  const one = [aStandby('pg-2', { sync_state: 'quorum' }), aStandby('pg-3')];
  expect(publishable(quorum, one).quorum).toEqual([]);
});

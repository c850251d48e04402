import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/sandbox/manager/decide.ts';
import type { LockView, Situation, ManagerStep } from '../../../../src/sandbox/manager/decide.ts';
import { readSettings } from '../../../../src/sandbox/manager/cluster-settings.ts';
import { aSituation } from './lab.ts';

const PG1 = { host: '127.0.0.1', port: 5431 };
const MINE: LockView = { kind: 'mine' };
const FREE: LockView = { kind: 'free', freeMs: 0 };
const PAUSED = readSettings({ pause: true });
const STANDBY_CLUSTER = readSettings({ standby_cluster: { host: '10.0.0.1', port: 5433 } });
const REMOTE = { host: '10.0.0.1', port: 5433 };

function step(changes: Partial<Situation>): ManagerStep {
  return decide(aSituation(changes));
}

function unreachable(silentMs: number, isVouched = false): LockView {
  return { kind: 'unreachable', silentMs, isVouched };
}

describe('with the lock', () => {
  const leader = { lock: MINE, me: 'pg-1', upstream: undefined } as const;

  it('a primary leads, a standby is promoted', () => {
    expect(step({ ...leader, server: 'primary' })).toEqual({ kind: 'lead' });
    expect(step({ ...leader, server: 'standby' })).toEqual({ kind: 'promote' });
  });

  it('a crashed primary is started again in place; a former standby starts as one', () => {
    const crashed = { ...leader, server: 'stopped' } as const;
    expect(step({ ...crashed, wasPrimary: true })).toEqual({ kind: 'start', role: { kind: 'primary' } });
    expect(step(crashed)).toEqual({ kind: 'start', role: { kind: 'standby', upstream: undefined } });
  });

  it('a member that does not start leaves the lock to others', () => {
    expect(step({ ...leader, server: 'stopped', wasPrimary: true, failedStarts: 1 }).kind).toBe('release');
  });

  it('while paused no server is started, and the lock is released', () => {
    expect(step({ ...leader, server: 'stopped', wasPrimary: true, settings: PAUSED }).kind).toBe('release');
    expect(step({ ...leader, server: 'primary', settings: PAUSED })).toEqual({ kind: 'lead' });
  });

  it('a server that does not answer is left alone', () => {
    expect(step({ ...leader, server: 'hanging' }).kind).toBe('nothing');
  });

  it('a switchover from it, or from any leader, is carried out when it is due', () => {
    const primary = { ...leader, server: 'primary' } as const;
    const switchover = { from: 'pg-1', to: 'pg-2', at: undefined };
    expect(step({ ...primary, switchover, isSwitchoverDue: true })).toEqual({ kind: 'hand_over' });
    expect(step({ ...primary, switchover, isSwitchoverDue: false })).toEqual({ kind: 'lead' });
    const failover = { from: undefined, to: 'pg-2', at: undefined };
    expect(step({ ...primary, switchover: failover, isSwitchoverDue: true })).toEqual({ kind: 'hand_over' });
    const others = { from: 'pg-3', to: undefined, at: undefined };
    expect(step({ ...primary, switchover: others, isSwitchoverDue: true })).toEqual({ kind: 'lead' });
  });
});

describe('in a standby cluster the leader', () => {
  const leader = { lock: MINE, me: 'pg-1', settings: STANDBY_CLUSTER } as const;

  it('stays a standby of the source', () => {
    expect(step({ ...leader, server: 'standby', upstream: REMOTE })).toEqual({ kind: 'lead' });
    expect(step({ ...leader, server: 'standby', upstream: PG1 })).toEqual({ kind: 'follow', upstream: REMOTE });
    expect(step({ ...leader, server: 'stopped' })).toEqual({
      kind: 'start',
      role: { kind: 'standby', upstream: REMOTE },
    });
  });

  it('is demoted if it was a primary', () => {
    expect(step({ ...leader, server: 'primary' })).toMatchObject({ kind: 'demote', mode: 'fast', upstream: REMOTE });
  });

  it('hands the lock over like any other leader', () => {
    const switchover = { from: 'pg-1', to: 'pg-2', at: undefined };
    const due = { ...leader, server: 'standby', upstream: REMOTE, switchover, isSwitchoverDue: true } as const;
    expect(step(due)).toEqual({ kind: 'hand_over' });
  });
});

describe('under another leader', () => {
  it('a standby goes on, or follows the leader if it followed another member', () => {
    expect(step({}).kind).toBe('nothing');
    expect(step({ upstream: undefined })).toEqual({ kind: 'follow', upstream: PG1 });
    expect(step({ upstream: undefined, lock: { kind: 'held', by: 'pg-1', address: undefined } }).kind).toBe('nothing');
  });

  it('a primary stops at once', () => {
    expect(step({ server: 'primary' })).toMatchObject({ kind: 'demote', mode: 'immediate', upstream: PG1 });
  });

  it('a stopped member is started as its standby, and rebuilt after too many failures', () => {
    expect(step({ server: 'stopped' })).toEqual({ kind: 'start', role: { kind: 'standby', upstream: PG1 } });
    expect(step({ server: 'stopped', failedStarts: 3 })).toEqual({ kind: 'rebuild', from: 'pg-1' });
  });

  it('a standby with a diverged history is rebuilt, as is one that cannot stream for long', () => {
    expect(step({ hasDiverged: true })).toEqual({ kind: 'rebuild', from: 'pg-1' });
    expect(step({ notStreamingMs: 15_001 })).toEqual({ kind: 'rebuild', from: 'pg-1' });
    expect(step({ notStreamingMs: 14_999 }).kind).toBe('nothing');
  });

  it('a standby that accepts no connections after its time is rebuilt', () => {
    expect(step({ server: 'starting' })).toEqual({ kind: 'rebuild', from: 'pg-1' });
    expect(step({ server: 'starting', settings: PAUSED }).kind).toBe('nothing');
    expect(step({ server: 'starting', lock: FREE }).kind).toBe('nothing');
    expect(step({ server: 'starting', lock: MINE }).kind).toBe('nothing');
  });

  it('while paused a primary goes on, a stopped member stays stopped, a diverged one is kept', () => {
    expect(step({ server: 'primary', settings: PAUSED }).kind).toBe('nothing');
    expect(step({ server: 'stopped', settings: PAUSED }).kind).toBe('nothing');
    expect(step({ hasDiverged: true, settings: PAUSED }).kind).toBe('nothing');
  });
});

describe('without any leader', () => {
  it('a standby competes, a primary takes the lock, a stopped member is started to compete', () => {
    expect(step({ lock: FREE })).toEqual({ kind: 'compete' });
    expect(step({ lock: FREE, server: 'primary' })).toEqual({ kind: 'acquire' });
    expect(step({ lock: FREE, server: 'stopped' })).toEqual({
      kind: 'start',
      role: { kind: 'standby', upstream: undefined },
    });
  });

  it('while paused there is no election; a primary keeps the cluster, and a named candidate may take over', () => {
    expect(step({ lock: FREE, settings: PAUSED }).kind).toBe('nothing');
    expect(step({ lock: FREE, settings: PAUSED, server: 'stopped' }).kind).toBe('nothing');
    expect(step({ lock: FREE, settings: PAUSED, server: 'primary' })).toEqual({ kind: 'acquire' });
    const switchover = { from: undefined, to: 'pg-2', at: undefined };
    expect(step({ lock: FREE, settings: PAUSED, switchover, isSwitchoverDue: true })).toEqual({ kind: 'acquire' });
  });

  it('the lock is for the candidate of a switchover, and for every member if the candidate does not come', () => {
    const planned = { switchover: { from: 'pg-1', to: 'pg-2', at: undefined }, isSwitchoverDue: true };
    expect(step({ ...planned, me: 'pg-2', lock: FREE })).toEqual({ kind: 'acquire' });
    expect(step({ ...planned, me: 'pg-3', lock: FREE }).kind).toBe('nothing');
    expect(step({ ...planned, me: 'pg-1', lock: FREE, server: 'stopped' }).kind).toBe('nothing');
    const late: LockView = { kind: 'free', freeMs: 3000 };
    expect(step({ ...planned, me: 'pg-3', lock: late })).toEqual({ kind: 'compete' });
    expect(step({ ...planned, me: 'pg-1', lock: late, server: 'stopped' }).kind).toBe('start');
  });

  it('a switchover without a candidate excludes the current leader; one that is not due reserves nothing', () => {
    const switchover = { from: 'pg-1', to: undefined, at: undefined };
    expect(step({ me: 'pg-1', switchover, isSwitchoverDue: true, lock: FREE }).kind).toBe('nothing');
    expect(step({ me: 'pg-3', switchover, isSwitchoverDue: true, lock: FREE })).toEqual({ kind: 'compete' });
    expect(step({ me: 'pg-1', switchover, isSwitchoverDue: false, lock: FREE })).toEqual({ kind: 'compete' });
  });
});

describe('without the store', () => {
  it('a primary demotes itself after retry_timeout, unless failsafe mode vouches for it or it is paused', () => {
    expect(step({ lock: unreachable(2000), server: 'primary' }).kind).toBe('nothing');
    expect(step({ lock: unreachable(2001), server: 'primary' })).toMatchObject({ kind: 'demote', mode: 'fast' });
    expect(step({ lock: unreachable(60_000, true), server: 'primary' }).kind).toBe('nothing');
    expect(step({ lock: unreachable(60_000), server: 'primary', settings: PAUSED }).kind).toBe('nothing');
  });

  it('a standby goes on, and is started again after it ended', () => {
    expect(step({ lock: unreachable(60_000) }).kind).toBe('nothing');
    expect(step({ lock: unreachable(60_000), server: 'stopped' })).toEqual({
      kind: 'start',
      role: { kind: 'standby', upstream: PG1 },
    });
  });
});

import { describe, expect, it } from 'vitest';
import {
  chooseSynchronous,
  isHealthiest,
  mayStand,
  refusalOfOrder,
  type OwnState,
  type PeerAnswer,
} from './election.ts';
import { Store, type MemberKey, type StoreView } from './store.ts';

const CONFIG = { ttl: 6, loop_wait: 2, retry_timeout: 2, maximum_lag_on_failover: 1_000 };

function member(name: string, tags: MemberKey['tags'] = {}): MemberKey {
  const place = {
    state: 'running',
    role: 'replica',
    timeline: 3,
    position: 100,
    replayed: 100,
    replicationState: 'streaming',
  };
  return { name, apiUrl: `http://10.0.0.1:8008/patroni`, host: '10.0.0.1', port: 5432, tags, ...place };
}

function view(changes: Partial<StoreView> = {}): StoreView {
  return {
    leader: undefined,
    members: [member('a'), member('b'), member('c')],
    failover: undefined,
    sync: undefined,
    config: CONFIG,
    history: [{ timeline: 2, end: 50, at: 0, newLeader: 'a' }],
    lastPosition: 100,
    systemIdentifier: '7',
    version: 1,
    ...changes,
  };
}

const OWN: OwnState = { name: 'b', isRunning: true, isPrimary: false, timeline: 3, position: 100, isNoFailover: false };
const PEER: PeerAnswer = { ...OWN, name: 'c' };

function standing(own: Partial<OwnState>, changes?: Partial<StoreView>): string {
  return mayStand({ ...OWN, ...own }, view(changes), 0).kind;
}

function ordered(failover: StoreView['failover']): string {
  return mayStand(OWN, view({ failover }), 1_000).kind;
}

function beside(peer: Partial<PeerAnswer>): string {
  return isHealthiest(OWN, [{ ...PEER, ...peer }], view()).kind;
}

describe('an election', () => {
  it('is for members that run, are on the last timeline, lag little, and may lead', () => {
    expect(standing({})).toBe('stand');
    expect(standing({ isRunning: false })).toBe('yield');
    expect(standing({ isNoFailover: true })).toBe('yield');
    expect(standing({ timeline: 2 })).toBe('yield');
    expect(standing({ position: 100 }, { lastPosition: 1_200 })).toBe('yield');
    expect(standing({}, { config: { ...CONFIG, pause: true } })).toBe('yield');
    expect(standing({ isPrimary: true }, { config: { ...CONFIG, pause: true } })).toBe('stand');
  });

  it('is in synchronous mode for the last leader and its synchronous standby alone', () => {
    const config = { ...CONFIG, synchronous_mode: true };
    const kinds = (standby: string | undefined) =>
      mayStand(OWN, view({ config, sync: { leader: 'a', standby } }), 0).kind;
    expect([kinds('b'), kinds('c'), kinds(undefined)]).toEqual(['stand', 'yield', 'yield']);
    expect(mayStand(OWN, view({ config }), 0).kind).toBe('stand');
  });

  it('follows an order from its time on', () => {
    expect([ordered({ candidate: 'b' }), ordered({ candidate: 'c' }), ordered({ leader: 'b' })]).toEqual([
      'stand',
      'yield',
      'yield',
    ]);
    expect(ordered({ candidate: 'c', at: 2_000 })).toBe('stand');
    expect(ordered({ candidate: 'gone' })).toBe('stand');
  });

  it('is won by the most WAL, and by nobody beside a primary', () => {
    expect([beside({}), beside({ position: 101 }), beside({ position: 101, timeline: 2 })]).toEqual([
      'stand',
      'yield',
      'stand',
    ]);
    expect([beside({ isPrimary: true }), beside({ position: 101, isRunning: false })]).toEqual(['yield', 'stand']);
    expect(beside({ position: 101, isNoFailover: true })).toBe('stand');
  });

  it('keeps the synchronous standby as long as it streams, and then takes the one with most WAL', () => {
    const streaming = [
      { name: 'b', flushed: 10 },
      { name: 'c', flushed: 20 },
    ];
    const members = [member('b'), member('c')];
    expect(chooseSynchronous('b', streaming, members)).toBe('b');
    expect(chooseSynchronous('d', streaming, members)).toBe('c');
    expect(chooseSynchronous('d', streaming, [member('b'), member('c', { nosync: true })])).toBe('b');
    expect(chooseSynchronous('d', [], members)).toBeUndefined();
  });

  it('is refused as an order that cannot be followed', () => {
    const led = view({ leader: 'a' });
    expect(refusalOfOrder({ leader: 'a', candidate: 'b' }, led, false)).toBeUndefined();
    expect(refusalOfOrder({ leader: 'b', candidate: 'c' }, led, false)).toBe('leader name does not match');
    expect(refusalOfOrder({ leader: 'a', candidate: 'a' }, led, false)).toBe('candidate is the current leader');
    expect(refusalOfOrder({ leader: 'a', candidate: 'x' }, led, false)).toBe('candidate does not exists');
    expect(refusalOfOrder({}, led, true)).toContain('only to a specific candidate');
  });
});

describe('the store', () => {
  it('gives the lock to one member until its lease ends, and remembers who had it when', () => {
    let now = 0;
    const store = new Store(() => now, CONFIG);
    const before = store.version();
    expect([store.acquire('a', 100), store.acquire('b', 100)]).toEqual([true, false]);
    now = 90;
    expect([store.renew('a', 100, 7), store.renew('b', 100)]).toEqual([true, false]);
    now = 189;
    expect([store.leader(), store.leaseMs(), store.read().lastPosition]).toEqual(['a', 1, 7]);
    now = 190;
    expect([store.leader(), store.renew('a', 100), store.acquire('b', 100)]).toEqual([undefined, false, true]);
    now = 200;
    expect([store.release('a'), store.release('b'), store.leader()]).toEqual([false, true, undefined]);
    expect(store.leases().map(({ holder, from, until }) => [holder, from, until])).toEqual([
      ['a', 0, 190],
      ['b', 190, 200],
    ]);
    expect(store.version()).toBeGreaterThan(before);
  });

  it('forgets members that no longer come, and keys that are null', () => {
    let now = 0;
    const store = new Store(() => now, CONFIG);
    store.touch(member('b'), 100);
    store.touch(member('a'), 200);
    expect(store.read().members.map(({ name }) => name)).toEqual(['a', 'b']);
    now = 150;
    expect(store.read().members.map(({ name }) => name)).toEqual(['a']);
    expect(store.patch({ pause: true })).toEqual({ ...CONFIG, pause: true });
    expect(store.patch({ pause: null })).toEqual(CONFIG);
  });
});

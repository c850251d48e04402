import { expect, it } from 'vitest';
import { Store } from '../../../../src/sandbox/manager/store.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aMember } from './lab.ts';

const TTL_MS = 5000;

function aStore() {
  const clock = new ManualClock();
  const store = new Store('sandbox', { ttl: 5 }, clock);
  let told = 0;
  store.watch(() => (told += 1));
  return { clock, store, told: () => told };
}

it('gives the lock to one holder, again to the same, and to no other before it expires', async () => {
  const { clock, store } = aStore();
  expect(store.acquire('pg-1', TTL_MS)).toBe('acquired');
  expect(store.acquire('pg-2', TTL_MS)).toBe('held');
  expect(store.acquire('pg-1', TTL_MS)).toBe('acquired');
  await clock.advance(TTL_MS - 1);
  expect(store.read()?.leader).toBe('pg-1');
  await clock.advance(1);
  expect(store.read()?.leader).toBeUndefined();
  expect(store.acquire('pg-2', TTL_MS)).toBe('acquired');
});

it('lets only the holder refresh, and only in time', async () => {
  const { clock, store } = aStore();
  store.acquire('pg-1', TTL_MS);
  await clock.advance(TTL_MS - 1);
  expect(store.refresh('pg-2', TTL_MS)).toBe('lost');
  expect(store.refresh('pg-1', TTL_MS)).toBe('refreshed');
  await clock.advance(TTL_MS);
  expect(store.refresh('pg-1', TTL_MS)).toBe('lost');
});

it('notifies the watchers once when a lock is taken, released or expired', async () => {
  const { clock, store, told } = aStore();
  store.acquire('pg-1', TTL_MS);
  expect(told()).toBe(1);
  await clock.advance(1000);
  store.refresh('pg-1', TTL_MS);
  expect(told(), 'a refresh is no change').toBe(1);
  await clock.advance(TTL_MS - 1);
  expect(told(), 'the timer of the first lease is gone').toBe(1);
  await clock.advance(2);
  expect(told()).toBe(2);
  store.acquire('pg-1', TTL_MS);
  expect(store.release('pg-2')).toBe(false);
  expect(store.release('pg-1')).toBe(true);
  expect(told()).toBe(4);
  expect(clock.pending()).toBe(0);
});

it('answers no call and changes nothing while it is down', async () => {
  const { clock, store, told } = aStore();
  store.acquire('pg-1', TTL_MS);
  store.setOutage(true);
  expect(store.read()).toBeUndefined();
  expect(store.acquire('pg-1', TTL_MS)).toBe('down');
  expect(store.refresh('pg-1', TTL_MS)).toBe('down');
  expect(store.release('pg-1')).toBe(false);
  expect(store.writeConfig({})).toBe(false);
  expect(store.publish(aMember('pg-2'), TTL_MS)).toBe(false);
  await clock.advance(TTL_MS + 1);
  expect(told()).toBe(1);
  store.setOutage(false);
  expect(told()).toBe(2);
  expect(store.read()).toMatchObject({ leader: 'pg-1', config: { ttl: 5 }, members: [] });
});

it('forgets a member that is silent for its ttl, and lists the others in the order of their numbers', async () => {
  const { clock, store, told } = aStore();
  store.publish(aMember('pg-10'), TTL_MS);
  store.publish(aMember('pg-2'), TTL_MS);
  expect(store.read()?.members.map(({ name }) => name)).toEqual(['pg-2', 'pg-10']);
  await clock.advance(3000);
  store.publish(aMember('pg-2', { state: 'stopped' }), TTL_MS);
  await clock.advance(2000);
  expect(store.read()?.members.map(({ name, state }) => [name, state])).toEqual([['pg-2', 'stopped']]);
  expect(told(), 'what members say of themselves wakes nobody').toBe(0);
});

it('leaves no timer when it is closed', () => {
  const { clock, store } = aStore();
  store.acquire('pg-1', TTL_MS);
  store.close();
  expect(clock.pending()).toBe(0);
});

it('keeps every lease during an outage, and restarts it afterwards', async () => {
  const { clock, store } = aStore();
  store.acquire('pg-1', TTL_MS);
  store.publish(aMember('pg-1'), TTL_MS);
  await clock.advance(TTL_MS - 1);
  store.setOutage(true);
  await clock.advance(10 * TTL_MS);
  expect(store.holder()).toBe('pg-1');
  store.setOutage(false);
  expect(store.read()).toMatchObject({ leader: 'pg-1', members: [{ name: 'pg-1' }] });
  await clock.advance(TTL_MS - 1);
  expect(store.read()?.leader).toBe('pg-1');
  await clock.advance(1);
  expect(store.read()).toMatchObject({ leader: undefined, members: [] });
});

it('restores no lease after an outage that had expired before it', async () => {
  const { clock, store } = aStore();
  store.acquire('pg-1', TTL_MS);
  store.publish(aMember('pg-1'), TTL_MS);
  await clock.advance(TTL_MS);
  store.setOutage(true);
  store.setOutage(false);
  expect(store.read()).toMatchObject({ leader: undefined, members: [] });
});

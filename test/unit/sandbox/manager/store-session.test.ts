import { expect, it } from 'vitest';
import { StoreSession } from '../../../../src/sandbox/manager/store-session.ts';
import { Store } from '../../../../src/sandbox/manager/store.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aMember } from './lab.ts';

const nobody = () => Promise.resolve(false);
const everybody = () => Promise.resolve(true);

function aSession(config = {}) {
  const clock = new ManualClock();
  const store = new Store('sandbox', config, clock);
  const session = new StoreSession('pg-1', store, clock);
  session.read();
  return { clock, store, session };
}

it('has the lock for ttl since its last refresh', async () => {
  const { clock, session } = aSession();
  expect(session.hasLock()).toBe(false);
  expect(session.acquire()).toBe(true);
  await clock.advance(3000);
  expect(await session.heartbeat(nobody)).toEqual({ kind: 'mine' });
  await clock.advance(4999);
  expect(session.hasLock()).toBe(true);
  await clock.advance(1);
  expect(session.hasLock(), 'without asking the store').toBe(false);
  expect(await session.heartbeat(nobody)).toEqual({ kind: 'free', freeMs: 0 });
  await clock.advance(700);
  expect(await session.heartbeat(nobody)).toEqual({ kind: 'free', freeMs: 700 });
});

it('knows the address of another leader after that one has reported it', async () => {
  const { store, session } = aSession();
  store.acquire('pg-2', 5000);
  expect(session.acquire()).toBe(false);
  expect(await session.heartbeat(nobody)).toEqual({ kind: 'held', by: 'pg-2', address: undefined });
  store.publish(aMember('pg-2', { port: 5433 }), 5000);
  const address = { host: '127.0.0.1', port: 5433 };
  expect(await session.heartbeat(nobody)).toEqual({ kind: 'held', by: 'pg-2', address });
});

it('counts the silence of the store, and keeps its last read', async () => {
  const { clock, store, session } = aSession({ ttl: 7 });
  session.acquire();
  await session.heartbeat(nobody);
  store.setOutage(true);
  await clock.advance(2500);
  expect(await session.heartbeat(nobody)).toEqual({ kind: 'unreachable', silentMs: 2500, isVouched: false });
  expect(session.cluster()).toMatchObject({ leader: 'pg-1', config: { ttl: 7 } });
  expect(session.isFailsafeActive()).toBe(false);
  await clock.advance(4500);
  expect(session.hasLock()).toBe(false);
});

it('in failsafe mode has the lock for as long as every member answers', async () => {
  const { clock, store, session } = aSession({ failsafe_mode: true });
  session.acquire();
  store.setOutage(true);
  await clock.advance(6000);
  expect(await session.heartbeat(everybody)).toMatchObject({ isVouched: true });
  expect(session.hasLock()).toBe(true);
  expect(session.isFailsafeActive()).toBe(true);
  await clock.advance(5000);
  expect(await session.heartbeat(nobody)).toMatchObject({ isVouched: false });
  expect(session.hasLock()).toBe(false);
  store.setOutage(false);
  expect(await session.heartbeat(nobody), 'no lease ran out meanwhile').toMatchObject({ kind: 'mine' });
  expect(session.isFailsafeActive()).toBe(false);
});

it('ends the switchover that made it leader, voids a plan for another, keeps its own', () => {
  const { store, session } = aSession();
  const at = new Date(Date.now() + 60_000).toISOString();
  store.writeSwitchover({ from: 'pg-1', to: 'pg-2', at });
  session.acquire();
  expect(store.read()?.switchover?.at).toBe(at);
  session.lose('release');
  store.writeSwitchover({ from: 'pg-3', to: undefined, at });
  session.acquire();
  expect(store.read()?.switchover).toBeUndefined();
  session.lose('release');
  store.writeSwitchover({ from: 'pg-1', to: 'pg-2', at: undefined });
  session.acquire();
  expect(store.read()?.switchover, 'one that nobody took up').toBeUndefined();
});

it('releases the lock, or lets it expire', () => {
  const { store, session } = aSession();
  session.acquire();
  session.lose('expire');
  expect([session.hasLock(), store.read()?.leader]).toEqual([false, 'pg-1']);
  session.lose('release');
  expect(store.read()?.leader).toBeUndefined();
});

// A member that is cut off: its manager sees an outage of the store and silent members; the others see it silent.
import { expect, test } from 'vitest';
import { linkTo } from '../../../src/sandbox/manager/store-link.ts';
import { Store } from '../../../src/sandbox/manager/store.ts';
import { Network } from '../../../src/sandbox/network.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

test('the store is down for the member that is cut off, and for no other', () => {
  const network = new Network();
  const store = new Store('lab', {}, new ManualClock());
  const [one, two] = ['pg-1', 'pg-2'].map((name) => linkTo(store, () => network.isCut(name)));
  expect(one?.acquire('pg-1', 1_000)).toBe('acquired');
  network.cut('pg-1');
  expect([one?.read(), one?.refresh('pg-1', 1_000), one?.release('pg-1'), one?.writeConfig({})]).toEqual([
    undefined,
    'down',
    false,
    false,
  ]);
  expect(two?.read()?.leader).toBe('pg-1');
  network.join('pg-1');
  expect(one?.refresh('pg-1', 1_000)).toBe('refreshed');
  store.close();
});

test('members on both sides of the cut are silent to each other', async () => {
  const network = new Network();
  const asked: string[] = [];
  const ask = network.through('pg-2', (others) => {
    asked.push(...others.map(({ name }) => name));
    return Promise.resolve([]);
  });
  const others = ['pg-1', 'pg-3'].map((name) => ({
    name,
    apiUrl: '',
    host: '',
    port: 1,
    tags: {},
    role: 'replica' as const,
    state: 'running' as const,
    timeline: 1,
    received: undefined,
    replayed: undefined,
    lastKnown: undefined,
    pendingRestart: {},
    scheduledRestart: undefined,
  }));
  network.cut('pg-1');
  expect(await ask(others, 100)).toEqual([{ name: 'pg-1', kind: 'silent' }]);
  network.cut('pg-2');
  expect(await ask(others, 100)).toHaveLength(2);
  expect(asked).toEqual(['pg-3']);
});

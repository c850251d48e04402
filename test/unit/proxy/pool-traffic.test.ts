// The counters of the relays of a pool: which ones there are, and that no byte of them is ever lost.
import { expect, test } from 'vitest';
import { BRANCHES_POOL } from '../../../src/model/branch.ts';
import { knownDatabase, PoolTraffic } from '../../../src/proxy/pool-traffic.ts';
import { SessionRegistry } from '../../../src/proxy/session-registry.ts';

function ends(member: string, database: string | undefined) {
  return { server: { member, address: { host: member, port: 5432 } }, database };
}

test('relays with the same ends share a counter, and all of them are the sum', () => {
  const traffic = new PoolTraffic();
  let created = 0;
  const of = (...[member, database]: Parameters<typeof ends>) =>
    traffic.of(ends(member, database), () => (created += 1));
  const counter = of('pg-1', 'app');
  expect(of('pg-1', 'app')).toBe(counter);
  const others = [of('pg-2', 'app'), of('pg-1', 'other'), of('pg-1', undefined), traffic.all];
  expect(new Set([counter, ...others]).size).toBe(5);
  expect(created).toBe(4);
  const moved = traffic.of(
    { ...ends('pg-1', 'app'), server: { member: 'pg-1', address: { host: 'x', port: 1 } } },
    () => {},
  );
  expect(moved).not.toBe(counter);
  for (const one of [counter, ...others, moved]) {
    one.toClientBytes += 10;
    one.toBackendBytes += 1;
  }
  expect(traffic.sum()).toEqual({ toBackendBytes: 6, toClientBytes: 60 });
});

test('a name that the server may cut is not told apart from others', () => {
  expect(knownDatabase('x'.repeat(59))).toBe('x'.repeat(59));
  expect(knownDatabase('x'.repeat(60))).toBeUndefined();
  expect(knownDatabase('ü'.repeat(30))).toBeUndefined();
  expect(knownDatabase(undefined)).toBeUndefined();
});

test('clients that invent names get no counter of their own any more at some number', () => {
  const traffic = new PoolTraffic();
  const of = (number: number) => traffic.of(ends('pg-1', `db${number}`), () => {});
  for (let number = 0; number < 999; number += 1) of(number);
  expect(of(999)).not.toBe(traffic.all);
  expect(of(1000)).toBe(traffic.all);
  expect(of(999)).not.toBe(traffic.all);
});

test('the bytes for a database are those of all pools whose database it is, or may be; never those of branches', () => {
  const registry = new SessionRegistry();
  registry.learn(['write', 'read', BRANCHES_POOL]);
  const before = registry.traffic('write', ends('pg-1', 'app'));
  registry.countByEnds(true);
  expect(registry.forwarded('app')).toHaveLength(2);
  const [app, other] = [
    registry.traffic('write', ends('pg-1', 'app')),
    registry.traffic('read', ends('pg-1', 'other')),
  ];
  const unknown = registry.traffic('read', ends('pg-2', undefined));
  const branch = registry.traffic(BRANCHES_POOL, undefined);
  expect(registry.forwarded('app')).toContain(app);
  expect(registry.forwarded('app')).toContain(unknown);
  expect(registry.forwarded('app')).toContain(before);
  expect(registry.forwarded('app')).not.toContain(other);
  for (const database of [undefined, 'x'.repeat(70)]) {
    expect(registry.forwarded(database)).toEqual(expect.arrayContaining([app, other, unknown, before]));
    expect(registry.forwarded(database)).not.toContain(branch);
  }
  registry.learn(['reports']);
  expect(registry.forwarded('app')).toContain(registry.traffic('reports', undefined));
});

test('without the setting there is one counter for a pool', () => {
  const registry = new SessionRegistry();
  registry.learn(['write']);
  expect(registry.traffic('write', ends('pg-1', 'app'))).toBe(registry.traffic('write', ends('pg-2', 'other')));
  registry.traffic('write', undefined).toClientBytes += 5;
  registry.countByEnds(true);
  registry.traffic('write', ends('pg-1', 'app')).toClientBytes += 7;
  expect(registry.counts().get('write')).toMatchObject({ toClientBytes: 12 });
});

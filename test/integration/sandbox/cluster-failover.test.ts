import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ClusterLab, STARTING_MS } from './cluster-lab.ts';

let lab: ClusterLab;
let startedInMs: number;

beforeAll(async () => {
  const from = performance.now();
  lab = await ClusterLab.start({ ttl: 4, loop_wait: 0.5, retry_timeout: 1 });
  startedInMs = performance.now() - from;
  await lab.sql(lab.leader(), 'create table kept (id int primary key)');
}, STARTING_MS);
afterAll(() => lab.sandbox.stop());
beforeEach(async () => {
  await lab.sandbox.heal();
  await lab.healthy();
}, STARTING_MS);

it('is healthy soon after the start', async () => {
  expect(await lab.sandbox.isHealthy()).toBe(true);
  expect(lab.leader()).toBe('pg-1');
  expect(startedInMs).toBeLessThan(20_000);
  const [row] = await lab.sql('pg-2', 'select pg_is_in_recovery() as standby, current_user as user');
  expect(row).toEqual({ standby: true, user: 'app' });
});

it('elects another leader when the host of the first dies, and accepts the dead one back with its data', async () => {
  const old = lab.leader();
  await lab.sql(old, 'insert into kept values (1)');
  await lab.sandbox.kill(old);
  expect(lab.sandbox.faulty()).toEqual([old]);
  expect(await lab.get(old, '/liveness'), 'refused').toBeUndefined();
  const leader = await lab.newLeader(old);
  await lab.sql(leader, 'insert into kept values (2)');
  await lab.sandbox.heal(old);
  await lab.healthy();
  await lab.wait('both rows', async () => (await lab.sql(old, 'select id from kept')).length === 2);
  const history = await lab.read(leader, '/history');
  expect(history).toEqual([[1, expect.any(Number), 'no recovery target specified', expect.any(String), leader]]);
}, 40_000);

it('starts a crashed PostgreSQL again in place: same leader, same timeline', async () => {
  const leader = lab.leader();
  const before = await lab.status(leader);
  await lab.sandbox.crashPostgres(leader);
  await lab.healthy();
  expect(lab.leader()).toBe(leader);
  const after = await lab.status(leader);
  expect(after['timeline']).toBe(before['timeline']);
  expect(after['postmaster_start_time']).not.toBe(before['postmaster_start_time']);
}, 40_000);

it('replaces a leader whose manager is frozen; thawed, the old one demotes and is rebuilt if it diverged', async () => {
  const old = lab.leader();
  const since = lab.events.length;
  await lab.sandbox.freezeManager(old);
  expect(await lab.get(old, '/primary', 300), 'accepted and never answered').toBeUndefined();
  const leader = await lab.newLeader(old);
  await lab.sql(old, 'insert into kept values (666)');
  await lab.sql(leader, 'insert into kept values (3)');
  await lab.sandbox.heal(old);
  await lab.healthy();
  expect(lab.leader()).toBe(leader);
  expect(lab.toldOf(old, since)).toMatch(/demotes itself.*is made again from/);
  const later = await lab.wait('its row', async () => {
    const rows = await lab.sql(old, 'select id from kept where id > 2');
    return rows.length > 0 && rows;
  });
  expect(later).toEqual([{ id: 3 }]);
}, 60_000);

it('replaces a leader whose PostgreSQL is frozen', async () => {
  const old = lab.leader();
  await lab.sandbox.freezePostgres(old);
  const leader = await lab.newLeader(old);
  expect(leader).not.toBe(old);
  await lab.sandbox.heal(old);
  await lab.healthy();
}, 60_000);

it('never makes a member with the tag nofailover the leader', async () => {
  const old = lab.leader();
  const [behind, barred] = lab.replicas();
  await lab.sandbox.setTags(barred, { nofailover: true });
  expect((await lab.send(barred, 'POST', '/reload')).status).toBe(200);
  await lab.sandbox.kill(old);
  expect(await lab.newLeader(old)).toBe(behind);
  await lab.sandbox.setTags(barred, {});
  await lab.send(barred, 'POST', '/reload');
  await lab.sandbox.heal();
}, 60_000);

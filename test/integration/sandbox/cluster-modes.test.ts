import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClusterLab, STARTING_MS } from './cluster-lab.ts';

let lab: ClusterLab;

beforeAll(async () => {
  lab = await ClusterLab.start({ ttl: 4, loop_wait: 0.5, retry_timeout: 1 });
}, STARTING_MS);
afterAll(() => lab.sandbox.stop());
beforeEach(async () => {
  await lab.sandbox.heal();
  await lab.healthy();
}, STARTING_MS);

async function countYes(path: string): Promise<number> {
  const answers = await Promise.all(lab.names().map((name) => lab.isYes(name, path)));
  return answers.filter(Boolean).length;
}

describe('without the store', () => {
  it('the leader demotes itself, and no other one is elected before the store is back', async () => {
    lab.sandbox.setStoreOutage(true);
    await lab.wait('no primary', async () => (await countYes('/primary')) === 0);
    await lab.wait('all read only', async () => (await countYes('/replica')) === 3);
    lab.sandbox.setStoreOutage(false);
    await lab.healthy();
    expect(await countYes('/primary')).toBe(1);
  }, 40_000);

  it('in failsafe mode the leader goes on while all members answer, and demotes when one is dead', async () => {
    await lab.patch({ failsafe_mode: true });
    const leader = lab.leader();
    const [replica] = lab.replicas();
    lab.sandbox.setStoreOutage(true);
    // Longer than ttl: without the members' answers the lock would be gone.
    const endsAt = performance.now() + 5000;
    while (performance.now() < endsAt) {
      expect(await lab.isYes(leader, '/primary')).toBe(true);
      await delay(50);
    }
    const status = await lab.status(leader);
    expect(status['failsafe_mode_is_active']).toBe(true);
    await lab.sql(leader, 'create table written_in_failsafe ()');
    await lab.sandbox.kill(replica);
    await lab.wait('no primary', async () => (await countYes('/primary')) === 0);
    await lab.sandbox.heal();
    await lab.patch({ failsafe_mode: null });
    await lab.healthy();
  }, 60_000);
});

it('while paused a crashed leader stays down; only a named candidate replaces it', async () => {
  const leader = lab.leader();
  const [candidate] = lab.replicas();
  await lab.patch({ pause: true });
  await lab.sandbox.crashPostgres(leader);
  await lab.wait('the lock given back', () => Promise.resolve(lab.sandbox.leader() === undefined));
  // A whole ttl in which any member could have taken the lock.
  await delay(4500);
  expect(lab.sandbox.leader()).toBeUndefined();
  expect(await countYes('/primary')).toBe(0);
  expect((await lab.send(candidate, 'POST', '/failover', { candidate })).status).toBe(200);
  expect(lab.leader()).toBe(candidate);
  await lab.patch({ pause: null });
  await lab.healthy();
}, 60_000);

it('as a standby cluster it has a read-only leader, which is promoted when the key is gone', async () => {
  const leader = lab.leader();
  await lab.patch({ standby_cluster: {} });
  await lab.wait('a standby leader', () => lab.isYes(leader, '/standby-leader'));
  expect(await countYes('/primary')).toBe(0);
  await lab.healthy();
  await lab.patch({ standby_cluster: null });
  await lab.wait('a primary', () => lab.isYes(leader, '/primary'));
}, 40_000);

describe('synchronous mode', () => {
  it('has one synchronous standby, which is replaced when it dies', async () => {
    await lab.patch({ synchronous_mode: true });
    await lab.wait('a synchronous standby', async () => (await countYes('/synchronous')) === 1);
    const names = await lab.sql(lab.leader(), 'show synchronous_standby_names', 'superuser');
    expect(names[0]?.['synchronous_standby_names']).toMatch(/^FIRST 1 \("pg-\d"\)$/);
    const [one, two] = lab.replicas();
    const chosen = (await lab.isYes(one, '/synchronous')) ? one : two;
    const other = chosen === one ? two : one;
    await lab.sandbox.kill(chosen);
    await lab.wait('the other one', () => lab.isYes(other, '/synchronous'));
    await lab.sql(lab.leader(), 'create table written_synchronously ()');
    await lab.sandbox.heal();
  }, 40_000);

  it('as a quorum every standby votes, and one of them is the next leader', async () => {
    await lab.patch({ synchronous_mode: 'quorum' });
    await lab.wait('two voters', async () => (await countYes('/quorum')) === 2);
    const names = await lab.sql(lab.leader(), 'show synchronous_standby_names', 'superuser');
    expect(names[0]?.['synchronous_standby_names']).toMatch(/^ANY 1 \("pg-\d","pg-\d"\)$/);
    const old = lab.leader();
    await lab.sandbox.kill(old);
    await lab.newLeader(old);
    await lab.sandbox.heal();
    await lab.patch({ synchronous_mode: null });
    await lab.wait('no voters', async () => (await countYes('/quorum')) === 0);
  }, 60_000);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClusterLab, STARTING_MS } from './cluster-lab.ts';

let lab: ClusterLab;

beforeAll(async () => {
  lab = await ClusterLab.start();
}, STARTING_MS);
afterAll(() => lab.sandbox.stop());
beforeEach(async () => {
  await lab.sandbox.heal();
  await lab.healthy();
}, STARTING_MS);

function soon(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

async function startTime(name: string): Promise<unknown> {
  return (await lab.status(name))['postmaster_start_time'];
}

async function isPending(name: string): Promise<boolean> {
  return (await lab.status(name))['pending_restart'] === true;
}

async function inUse(name: string): Promise<unknown> {
  return (await lab.sql(name, 'show max_connections'))[0]?.['max_connections'];
}

async function all(holds: (name: string) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(lab.names().map(holds))).every(Boolean);
}

describe('a switchover', () => {
  it('goes to the candidate, through any member, and loses no data', async () => {
    const old = lab.leader();
    const [candidate, other] = lab.replicas();
    await lab.sql(old, 'create table before_switchover ()');
    const answer = await lab.send(other, 'POST', '/switchover', { leader: old, candidate });
    expect(answer).toEqual({ status: 200, text: `Successfully switched over to "${candidate}"` });
    expect(lab.leader()).toBe(candidate);
    await lab.sql(candidate, 'drop table before_switchover');
    await lab.healthy();
    expect(lab.toldOf(old, 0)).not.toContain('is made again');
  }, 40_000);

  it('stops the old primary first, also when another heartbeat comes between', async () => {
    const old = lab.leader();
    // Each change of the configuration wakes every manager.
    const wake = async (): Promise<void> => {
      for (let i = 0; i < 30; i += 1) await lab.patch({ woken: i });
    };
    const [answer] = await Promise.all([lab.send(old, 'POST', '/switchover', { leader: old }), wake()]);
    expect(answer).toMatchObject({ status: 200 });
    expect(lab.leader()).not.toBe(old);
    await lab.patch({ woken: null });
  }, 40_000);

  it('is refused from a member that does not lead, and to an unknown member', async () => {
    const leader = lab.leader();
    const [replica] = lab.replicas();
    const wrong = await lab.send(leader, 'POST', '/switchover', { leader: replica });
    expect(wrong).toEqual({ status: 412, text: 'leader name does not match' });
    expect((await lab.send(leader, 'POST', '/switchover', { leader, candidate: 'pg-9' })).status).toBe(412);
  });

  it('that is planned is shown, can be cancelled, and runs at its time', async () => {
    const leader = lab.leader();
    const [candidate] = lab.replicas();
    const never = { leader, candidate, scheduled_at: soon(60_000) };
    expect((await lab.send(leader, 'POST', '/switchover', never)).status).toBe(202);
    const shown = await lab.read(leader, '/cluster');
    expect(shown).toMatchObject({ scheduled_switchover: { from: leader, to: candidate } });
    expect((await lab.send(leader, 'DELETE', '/switchover')).status).toBe(200);
    expect((await lab.send(leader, 'DELETE', '/switchover')).status).toBe(412);
    const at = soon(1000);
    await lab.send(leader, 'POST', '/switchover', { leader, candidate, scheduled_at: at });
    expect(await lab.newLeader(leader)).toBe(candidate);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at));
  }, 40_000);
});

it('a failover goes to its candidate', async () => {
  const [candidate] = lab.replicas();
  const answer = await lab.send(lab.leader(), 'POST', '/failover', { candidate });
  expect(answer).toEqual({ status: 200, text: `Successfully failed over to "${candidate}"` });
}, 40_000);

describe('a restart', () => {
  it('keeps the leader, and runs only when its conditions hold', async () => {
    const leader = lab.leader();
    const before = await startTime(leader);
    expect((await lab.send(leader, 'POST', '/restart', { role: 'replica' })).status).toBe(412);
    expect((await lab.send(leader, 'POST', '/restart', { restart_pending: true })).status).toBe(412);
    expect(await startTime(leader)).toBe(before);
    expect((await lab.send(leader, 'POST', '/restart')).status).toBe(200);
    expect(await startTime(leader)).not.toBe(before);
    expect(lab.leader()).toBe(leader);
  }, 40_000);

  it('that is scheduled runs at its time; there is one at a time, and it can be cancelled', async () => {
    const [replica] = lab.replicas();
    const before = await startTime(replica);
    expect((await lab.send(replica, 'POST', '/restart', { schedule: soon(60_000) })).status).toBe(202);
    expect((await lab.send(replica, 'POST', '/restart', { schedule: soon(60_000) })).status).toBe(412);
    expect((await lab.send(replica, 'DELETE', '/restart')).status).toBe(200);
    expect((await lab.send(replica, 'DELETE', '/restart')).status).toBe(412);
    expect((await lab.send(replica, 'POST', '/restart', { schedule: soon(700) })).status).toBe(202);
    const restarted = async () => (await lab.isYes(replica, '/health')) && (await startTime(replica)) !== before;
    await lab.wait('the scheduled restart', restarted);
  }, 40_000);
});

describe('parameters', () => {
  it('apply at once where possible, and otherwise mark the members that must restart', async () => {
    await lab.patch({
      postgresql: { parameters: { work_mem: '7MB', max_connections: '130', no_such_parameter: '1' } },
    });
    await lab.wait('pending everywhere', () => all(isPending));
    expect(await lab.sql('pg-1', 'show work_mem')).toEqual([{ work_mem: '7MB' }]);
    expect(await inUse('pg-1')).toBe('100');
    for (const name of [...lab.replicas(), lab.leader()]) {
      expect((await lab.send(name, 'POST', '/restart', { restart_pending: true })).status).toBe(200);
      expect([await inUse(name), await isPending(name)]).toEqual(['130', false]);
    }
  }, 40_000);

  it('a standby ignores a decrease until its primary has applied it', async () => {
    const leader = lab.leader();
    const [replica, other] = lab.replicas();
    const before = Number(await inUse(leader));
    await lab.patch({ postgresql: { parameters: { max_connections: String(before - 20) } } });
    await lab.wait('pending everywhere', () => all(isPending));
    expect((await lab.send(replica, 'POST', '/restart')).status).toBe(200);
    expect(await inUse(replica)).toBe(String(before));
    await lab.wait('still pending', () => isPending(replica));
    expect((await lab.send(leader, 'POST', '/restart')).status).toBe(200);
    // A standby that has not replayed the primary's change yet ignores it once more.
    for (const name of [replica, other]) {
      await lab.wait(`${name} decreased`, async () => {
        await lab.send(name, 'POST', '/restart', { restart_pending: true });
        return (await inUse(name)) === String(before - 20);
      });
    }
    expect(await all(async (name) => !(await isPending(name)))).toBe(true);
  }, 60_000);
});

it('reinitialize rebuilds a replica from the leader, and is refused on the leader', async () => {
  const leader = lab.leader();
  const [replica] = lab.replicas();
  const since = lab.events.length;
  expect((await lab.send(leader, 'POST', '/reinitialize')).status).toBe(412);
  expect((await lab.send(replica, 'POST', '/reinitialize', { 'from-leader': true })).status).toBe(200);
  await lab.wait('made again', () => Promise.resolve(lab.toldOf(replica, since).includes('creating replica')));
  await lab.healthy();
}, 40_000);

it("reload reads the member's own file, and keeps the old values when that is not valid", async () => {
  const [replica] = lab.replicas();
  const tags = async () => (await lab.status(replica))['tags'];
  await lab.sandbox.setTags(replica, { noloadbalance: true, zone: 'eu-1' });
  expect(await tags(), 'not before the reload').toEqual({});
  expect((await lab.send(replica, 'POST', '/reload')).status).toBe(200);
  expect(await tags()).toEqual({ noloadbalance: true, zone: 'eu-1' });
  expect(await lab.isYes(replica, '/replica')).toBe(false);
  await writeFile(join(lab.sandbox.directory, `${replica}.yml`), 'tags: { zone: { of: nothing } }');
  const refused = await lab.send(replica, 'POST', '/reload');
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('tags.zone')]);
  expect(await tags()).toEqual({ noloadbalance: true, zone: 'eu-1' });
  await lab.sandbox.setTags(replica, {});
  await lab.send(replica, 'POST', '/reload');
}, 40_000);

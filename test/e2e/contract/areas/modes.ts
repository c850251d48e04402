// Modes that the dynamic configuration switches on: synchronous and quorum replication, pause, standby cluster.
import { expect } from 'vitest';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { Area, Contract } from '../../../support/contract/contract.ts';
import { list, record, sorted } from '../../../support/contract/questions.ts';
import type { ContractRun } from '../../../support/contract/run.ts';

async function statuses(on: ContractRun, member: MemberAddress, paths: readonly string[]): Promise<readonly number[]> {
  return Promise.all(paths.map((path) => on.status(member, path)));
}

/** Resolves when the paths answer as wanted; the failure shows the last answers. */
async function become(on: ContractRun, member: MemberAddress, wanted: Readonly<Record<string, number>>): Promise<void> {
  const paths = Object.keys(wanted);
  await on.until(`${member.name} answers as wanted`, async () => {
    const found = await statuses(on, member, paths);
    expect(Object.fromEntries(paths.map((path, index) => [path, found[index]]))).toEqual(wanted);
    return true;
  });
}

export const modes: Area = {
  name: 'modes of the cluster',
  define: (contract) => {
    defineSynchronous(contract);
    defineQuorum(contract);
    definePause(contract);
    definePausedSwitchover(contract);
    defineStandbyCluster(contract);
  },
};

function defineSynchronous(contract: Contract): void {
  contract(
    [
      'health.synchronous.mode-on',
      'health./synchronous',
      'health./sync',
      'health./read-only-sync',
      'health./asynchronous',
      'health./async',
    ],
    'a synchronous standby is 200 at /synchronous, /sync, /read-only-sync, the other one at /asynchronous, /async',
    async (on) => {
      await on.withConfig({ synchronous_mode: true }, async () => {
        const [leader, replicas] = [await on.leader(), await on.replicas()];
        const synchronous = await on.until('a synchronous standby', async () => {
          const found = await Promise.all(replicas.map((member) => on.status(member, '/synchronous')));
          return replicas.find((_, index) => found[index] === 200);
        });
        const other = replicas.find(({ name }) => name !== synchronous.name) ?? synchronous;
        await become(on, synchronous, {
          '/synchronous': 200,
          '/sync': 200,
          '/read-only-sync': 200,
          '/asynchronous': 503,
          '/async': 503,
          '/replica': 200,
        });
        await become(on, other, {
          '/synchronous': 503,
          '/sync': 503,
          '/read-only-sync': 503,
          '/asynchronous': 200,
          '/async': 200,
          '/replica': 200,
        });
        await become(on, leader, { '/synchronous': 503, '/read-only-sync': 200, '/asynchronous': 503 });
        const attached = list((await on.node(leader))['replication']).map(record);
        const states = attached.map(({ application_name: name, sync_state: state }) => [name, state]);
        expect(sorted(states)).toEqual(
          sorted([
            [synchronous.name, 'sync'],
            [other.name, 'async'],
          ]),
        );
      });
      const [first, second] = await on.replicas();
      for (const member of [first, second]) await become(on, member, { '/synchronous': 503, '/asynchronous': 200 });
    },
  );
}

function defineQuorum(contract: Contract): void {
  contract(
    ['health.quorum.mode-on', 'health./quorum'],
    'with quorum commit its nodes are 200 at /quorum and /read-only-quorum, and not asynchronous',
    async (on) => {
      const paths = ['/quorum', '/read-only-quorum'];
      await on.withConfig({ synchronous_mode: 'quorum' }, async () => {
        const [leader, replicas] = [await on.leader(), await on.replicas()];
        const contractual = { leader: [503, 200], first: [200, 200], second: [200, 200] };
        const wanted = on.expected('health.quorum.mode-on', contractual);
        await on.until('quorum', async () => {
          const found = {
            leader: await statuses(on, leader, paths),
            first: await statuses(on, replicas[0], paths),
            second: await statuses(on, replicas[1], paths),
          };
          expect(found).toEqual(wanted);
          return true;
        });
        if (wanted !== contractual) return;
        expect(await on.sql(leader, "select current_setting('synchronous_standby_names')")).toContain('ANY');
        for (const member of replicas) expect(await on.status(member, '/asynchronous')).toBe(503);
      });
      for (const member of await on.replicas()) await become(on, member, { '/quorum': 503, '/asynchronous': 200 });
    },
  );
}

function definePause(contract: Contract): void {
  contract('node.pause', 'the indicator pause is set while the cluster is paused', async (on) => {
    const shown = () => Promise.all(on.target.members().map(async (member) => 'pause' in (await on.node(member))));
    const before = await on.config();
    expect(await on.perform({ kind: 'pause' })).toMatchObject({ status: 200, config: { ...before, pause: true } });
    try {
      await on.until('pause on every member', async () => (await shown()).every(Boolean));
      expect((await on.node(await on.leader()))['pause']).toBe(true);
      expect(await (await on.control()).report()).toMatchObject({ value: { paused: true } });
    } finally {
      expect(await on.perform({ kind: 'resume' })).toMatchObject({ status: 200, config: before });
    }
    await on.until('no pause', async () => !(await shown()).some(Boolean));
  });
}

function definePausedSwitchover(contract: Contract): void {
  contract('error.412.paused', 'while paused: no switchover without a candidate, and no scheduled one', async (on) => {
    const [leader, [candidate]] = [await on.leader(), await on.replicas()];
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await on.withConfig({ pause: true }, async () => {
      await on.until('pause', async () => 'pause' in (await on.node(leader)));
      const fields = { candidate: candidate.name, scheduled_at: later };
      const results = [
        await on.perform({ kind: 'switchover', leader: leader.name }),
        await on.perform({ kind: 'switchover', leader: leader.name, ...fields }),
      ];
      const statuses = results.map(({ status }) => status);
      expect(statuses).toEqual(on.expected('error.412.paused', [412, 412]));
      expect((await on.leader()).name).toBe(leader.name);
    });
    await on.until('no pause', async () => !('pause' in (await on.node(leader))));
  });
}

function defineStandbyCluster(contract: Contract): void {
  contract(
    [
      'health./standby-leader',
      'health.leader.role-not-checked',
      'health.rule-1',
      'transition.standby-leader',
      'tag.ignored./standby-leader',
    ],
    'in a standby cluster the leader is 200 at /leader and /standby-leader, and no member at /primary',
    async (on) => {
      const leader = await on.leader();
      // The source's port refuses: the standby cluster waits for its source.
      await on.withConfig({ standby_cluster: { host: '127.0.0.1', port: 1 } }, async () => {
        await become(on, leader, {
          '/leader': 200,
          '/standby-leader': 200,
          '/standby-leader?tag_zone=nowhere': 200,
          '/': 503,
          '/primary': 503,
          '/read-write': 503,
        });
        await on.until('the role', async () => /^standby[ _-]leader$/.test(String((await on.node(leader))['role'])));
        expect((await on.entry(leader.name))['role']).toMatch(/^standby[ _-]leader$/);
        await on.until('in recovery', async () => (await on.sql(leader, 'select pg_is_in_recovery()')) === true);
        for (const member of on.target.members()) {
          expect(await statuses(on, member, ['/primary', '/read-write'])).toEqual([503, 503]);
          if (member.name === leader.name) continue;
          expect(await statuses(on, member, ['/leader', '/standby-leader'])).toEqual([503, 503]);
        }
      });
      await become(on, leader, { '/primary': 200, '/standby-leader': 503, '/leader': 200 });
      await on.leader();
    },
  );
}

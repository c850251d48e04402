// Faults: members that die, stall or lose the store. This area runs last, because the members need a repair afterwards.
import { expect } from 'vitest';
import type { Area, Contract } from '../../../support/contract/contract.ts';
import { list, record } from '../../../support/contract/questions.ts';
import type { ContractRun } from '../../../support/contract/run.ts';
import { detached, writeWal } from './lag.ts';

/** The unit of the waits: a failover or a stalled heartbeat takes a multiple of ttl. */
async function ttlMs(on: ContractRun): Promise<number> {
  return Number((await on.config())['ttl']) * 1000;
}

export const faults: Area = {
  name: 'faults',
  define: (contract) => {
    defineFailsafe(contract);
    defineWithoutLeader(contract);
    definePromotion(contract);
    defineLiveness(contract);
  },
};

function defineFailsafe(contract: Contract): void {
  contract(
    'node.failsafe_mode_is_active',
    'failsafe_mode without a store: the indicator is set, and the leader stays',
    async (on) => {
      const leader = await on.leader();
      await on.withConfig({ failsafe_mode: true }, async () => {
        // The members have to know the mode before the store is lost, which takes some heartbeats.
        const sinceEpoch = Math.floor(Date.now() / 1000) + 4;
        for (const member of on.target.members()) {
          const beat = async () => Number((await on.node(member))['dcs_last_seen']) >= sinceEpoch;
          await on.until(`heartbeats of ${member.name}`, beat);
        }
        await on.target.setStoreOutage(true);
        try {
          const isActive = async () => 'failsafe_mode_is_active' in (await on.node(leader));
          await on.until('failsafe', isActive);
          expect((await on.node(leader))['failsafe_mode_is_active']).toBe(true);
          expect(await on.status(leader, '/primary')).toBe(200);
        } finally {
          await on.target.setStoreOutage(false);
        }
        await on.until('no failsafe', async () => !('failsafe_mode_is_active' in (await on.node(leader))));
      });
    },
  );
}

function defineWithoutLeader(contract: Contract): void {
  contract(
    ['node.cluster_unlocked', 'switchover.needs-a-leader', 'failover.without-leader'],
    'the leader is dead and no member is elected: cluster_unlocked; a failover works, a switchover does not',
    async (on) => {
      const [old, [first, second]] = [await on.leader(), await on.replicas()];
      try {
        // A pause prevents the election.
        await on.withConfig({ pause: true }, async () => {
          const isPaused = async () => 'pause' in (await on.node(first)) && 'pause' in (await on.node(second));
          await on.until('pause', isPaused);
          await on.target.kill(old.name);
          for (const member of [first, second]) {
            await on.until('unlocked', async () => 'cluster_unlocked' in (await on.node(member)), 60_000);
            expect((await on.node(member))['cluster_unlocked']).toBe(true);
          }
          const roles = list((await on.cluster())['members']).map((entry) => record(entry)['role']);
          expect(roles).not.toContain('leader');
          const switchover = { kind: 'switchover', leader: old.name, candidate: first.name } as const;
          expect((await on.perform(switchover)).status).toBe(412);
          expect((await on.perform({ kind: 'failover', candidate: 'nobody' })).status).toBe(412);
          const failover = await on.perform({ kind: 'failover', candidate: second.name });
          expect(failover.status, failover.text).toBe(200);
          await on.until('the candidate is primary', async () => (await on.status(second, '/primary')) === 200);
          await on.until('locked', async () => !('cluster_unlocked' in (await on.node(first))));
        });
      } finally {
        await on.target.heal(old.name);
      }
    },
  );
}

function definePromotion(contract: Contract): void {
  contract(
    'service.promotion',
    'the leader dies: of two replicas the one that has less WAL is not promoted',
    async (on) => {
      const [old, [behind, ahead]] = [await on.leader(), await on.replicas()];
      try {
        await detached(on, behind, async () => {
          // Less than maximum_lag_on_failover, which would disqualify the replica without a comparison.
          await writeWal(on, old, 0.5);
          const position = await on.sql(old, "select pg_current_wal_lsn() - '0/0'");
          // Only what it streams counts: it may still have WAL of a timeline that ended.
          const received = "select flushed_lsn - '0/0' from pg_stat_wal_receiver where status = 'streaming'";
          const hasAll = async () => Number(await on.sql(ahead, received)) >= Number(position);
          await on.until(`${ahead.name} has received it`, hasAll);
          await on.target.kill(old.name);
          await on.until('a new primary', async () => (await on.leader()).name === ahead.name, 60_000);
          expect(await on.status(behind, '/primary')).toBe(503);
        });
      } finally {
        await on.target.heal(old.name);
      }
    },
  );
}

function defineLiveness(contract: Contract): void {
  contract(
    ['liveness.primary', 'liveness.replica', 'liveness.no-sql', 'health./liveness'],
    '/liveness: 503 when the heartbeat stands still for ttl on the primary, for 2*ttl on a replica',
    async (on) => {
      const [leader, [first]] = [await on.leader(), await on.replicas()];
      const ttl = await ttlMs(on);
      const startedMs = performance.now();
      const elapsed = () => performance.now() - startedMs;
      try {
        await Promise.all([leader, first].map(({ name }) => on.target.stallHeartbeat(name)));
        const alive = () => Promise.all([leader, first].map((member) => on.status(member, '/liveness')));
        expect(await alive()).toEqual([200, 200]);
        const isDead = async (index: number) => (await alive())[index] === 503;
        await on.until('503 on the primary', () => isDead(0), 2 * ttl);
        const primaryMs = elapsed();
        expect(await alive()).toEqual([503, 200]);
        await on.until('503 on the replica', () => isDead(1), 3 * ttl);
        // The last heartbeat was up to one loop before the stall; Patroni counts from the first missing one.
        expect(primaryMs).toBeGreaterThan(0.7 * ttl);
        expect(elapsed()).toBeGreaterThan(1.7 * ttl);
      } finally {
        await on.target.heal(leader.name);
        await on.target.heal(first.name);
      }
    },
  );
}

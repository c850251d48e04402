// POST /reinitialize, and failed executions. A marker file shows whether the data directory is still the same one.
import { expect } from 'vitest';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { Area } from '../../../support/contract/contract.ts';
import type { ContractRun } from '../../../support/contract/run.ts';
import { restart, startedAt } from './restart.ts';

async function markDirectory(on: ContractRun, member: MemberAddress): Promise<void> {
  const path = "current_setting('data_directory') || '/contract-mark'";
  await on.sql(member, `do $$ begin execute format('copy (select 1) to %L', ${path}); end $$`);
  expect(await hasMark(on, member)).toBe(true);
}

async function hasMark(on: ContractRun, member: MemberAddress): Promise<boolean> {
  return (await on.sql(member, "select count(*)::int from pg_ls_dir('.') as file where file = 'contract-mark'")) === 1;
}

async function reinitialize(
  on: ContractRun,
  { name }: MemberAddress,
  options: { readonly force?: true; readonly from_leader?: true } = {},
): Promise<number> {
  return (await on.perform({ kind: 'reinitialize', member: name, ...options })).status;
}

async function isRebuilt(on: ContractRun, member: MemberAddress): Promise<void> {
  await on.until(`${member.name} has another data directory`, async () => !(await hasMark(on, member)), 60_000);
  await on.target.waitUntilHealthy();
}

export const reinitialization: Area = {
  name: 'reinitialize',
  define: (contract) => {
    contract(
      ['reinitialize.replica-only', 'error.412.reinitialize'],
      'refused on a primary, with force and without, and nothing changes',
      async (on) => {
        const leader = await on.leader();
        const before = await startedAt(on, leader);
        const status = on.expected('error.412.reinitialize', 412);
        expect(await reinitialize(on, leader)).toBe(status);
        expect(await reinitialize(on, leader, { force: true })).toBe(status);
        expect(await startedAt(on, leader)).toBe(before);
        expect(await on.status(leader, '/primary')).toBe(200);
      },
    );

    contract('reinitialize.rebuilds', 'a replica gets a new data directory and streams again', async (on) => {
      const [first] = await on.replicas();
      await markDirectory(on, first);
      expect(await reinitialize(on, first)).toBe(200);
      await isRebuilt(on, first);
    });

    contract('reinitialize.from-leader', 'from-leader: from the leader itself', async (on) => {
      const [, second] = await on.replicas();
      await markDirectory(on, second);
      expect(await reinitialize(on, second, { from_leader: true })).toBe(200);
      await isRebuilt(on, second);
      const upstream = await on.sql(second, "select sender_host || ':' || sender_port from pg_stat_wal_receiver");
      const { host, port } = await on.leader();
      expect(upstream).toBe(`${host}:${port}`);
    });

    contract(
      ['error.503.failed', 'health.replica.state', 'reinitialize.force'],
      'a server that does not start: 503, also at /replica; a forced reinitialize repairs it',
      async (on) => {
        const [first] = await on.replicas();
        await markDirectory(on, first);
        // In its own directory alone. While the configuration of the cluster were to blame, the copy could not start
        // either, and Patroni 3.0 recovers a copy in single-user mode: that writes WAL that its primary does not have.
        await on.sql(first, "alter system set shared_preload_libraries = 'no_such_library'");
        expect(await restart(on, first)).toBe(503);
        expect(await on.status(first, '/replica')).toBe(503);
        expect(await on.status(first, '/health')).toBe(503);
        expect(await reinitialize(on, first, { force: true })).toBe(200);
        await isRebuilt(on, first);
      },
    );
  },
};

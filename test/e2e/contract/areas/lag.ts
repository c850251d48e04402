// The lag parameter and /readiness. The leader writes, and one replica receives the WAL but does not replay it.
import { expect } from 'vitest';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { Area } from '../../../support/contract/contract.ts';
import { record } from '../../../support/contract/questions.ts';
import type { ContractRun } from '../../../support/contract/run.ts';

const MB = 1024 * 1024;

const CHUNK = MB / 4;

/** Writes the WAL in a transaction, so that the commit flushes it. */
export function writeWal(on: ContractRun, leader: MemberAddress, megabytes: number): Promise<unknown> {
  const message = `pg_logical_emit_message(true, 'contract', repeat('x', ${CHUNK}))`;
  return on.sql(leader, `select count(${message}) from generate_series(1, ${(megabytes * MB) / CHUNK})`);
}

async function received(on: ContractRun, replica: MemberAddress): Promise<number> {
  const behind = await on.sql(replica, 'select pg_last_wal_receive_lsn() - pg_last_wal_replay_lsn()');
  return Number(behind);
}

/** Calls `run` while one replica has received 3 MB or more and does not replay them. */
async function withLag(on: ContractRun, run: (lagging: MemberAddress, other: MemberAddress) => Promise<void>) {
  const [lagging, other] = await on.replicas();
  await on.target.pauseReplay(lagging.name);
  try {
    await writeWal(on, await on.leader(), 3);
    await on.until('3 MB received, not replayed', async () => (await received(on, lagging)) > 3 * MB);
    await run(lagging, other);
  } finally {
    await on.target.resumeReplay(lagging.name);
    await on.until('caught up', async () => (await on.status(lagging, '/replica?lag=16kB')) === 200);
  }
}

export const lag: Area = {
  name: 'lag and readiness',
  define: (contract) => {
    contract(
      ['lag.bytes', 'lag.kB', 'lag.MB', 'lag.GB', 'lag./replica', 'lag./asynchronous', 'lag./async'],
      'lag: 503 above the limit, 200 below it, in bytes and with a unit',
      async (on) => {
        await withLag(on, async (lagging, other) => {
          for (const path of ['/replica', '/asynchronous', '/async']) {
            for (const exceeded of ['0', '1000000', '16kB', '2MB']) {
              const isOver = async () => (await on.status(lagging, `${path}?lag=${exceeded}`)) === 503;
              await on.until(`${path}?lag=${exceeded} is 503`, isOver);
            }
            for (const sufficient of ['1000000000', '1048576kB', '64MB', '1GB']) {
              expect(await on.status(lagging, `${path}?lag=${sufficient}`), `${path}?lag=${sufficient}`).toBe(200);
            }
            expect(await on.status(lagging, path)).toBe(200);
            const isWithin = async () => (await on.status(other, `${path}?lag=16kB`)) === 200;
            await on.until(`${path}?lag=16kB of the other is 200`, isWithin);
          }
        });
      },
    );

    contract(
      ['lag./readiness', 'readiness.default-threshold', 'mode.apply', 'mode.default', 'mode.write'],
      '/readiness: maximum_lag_on_failover or lag; the replayed position, or the received one with mode=write',
      async (on) => {
        await on.withConfig({ maximum_lag_on_failover: 64 * MB }, () =>
          withLag(on, async (lagging) => {
            const ask = (query: string) => on.status(lagging, `/readiness${query}`);
            const becomes = async (query: string, status: unknown) => {
              await on.until(`/readiness${query} is ${String(status)}`, async () => (await ask(query)) === status);
            };
            await on.until('the lag is known', async () => (await on.status(lagging, '/replica?lag=2MB')) === 503);
            await becomes('', 200);
            expect(await ask('?lag=2MB')).toBe(on.expected('lag./readiness', 503));
            await on.patch({ maximum_lag_on_failover: MB });
            await becomes('', on.expected('readiness.default-threshold', 503));
            expect(await ask('')).toBe(on.expected('mode.default', 503));
            expect(await ask('?mode=apply')).toBe(on.expected('mode.apply', 503));
            expect(await ask('?lag=64MB')).toBe(200);
            expect(await ask('?lag=64MB&mode=apply')).toBe(200);
            await becomes('?mode=write', 200);
            expect(await ask('?mode=write&lag=2MB')).toBe(200);
          }),
        );
      },
    );

    contract(
      'cluster.member.received-not-replayed',
      'receive_* and replay_* differ when the replay is behind',
      async (on) => {
        await withLag(on, async (lagging) => {
          const word = on.expected('cluster.member.received-not-replayed', 'differ');
          const look = async () => {
            const { receive_lag: receiveLag, replay_lag: replayLag, ...entry } = await on.entry(lagging.name);
            if (receiveLag === undefined) return 'absent';
            const differ =
              Number(replayLag) > 2 * MB && Number(receiveLag) < MB && entry['receive_lsn'] !== entry['replay_lsn'];
            return differ ? 'differ' : undefined;
          };
          expect(await on.until('positions in /cluster', look)).toBe(word);
        });
      },
    );

    contract(
      'lag.recorded-position',
      "lag compares with the WAL position that the leader's last heartbeat recorded",
      async (on) => {
        const loopMs = 4000;
        await on.withConfig({ ttl: 30, loop_wait: loopMs / 1000 }, async () => {
          const leader = await on.leader();
          const lastSeen = async () => Number((await on.node(leader))['dcs_last_seen']);
          // Two heartbeats, so that the longer interval applies to the next one.
          let beat = 0;
          for (const _ of [1, 2]) {
            const before = await lastSeen();
            await on.until('a heartbeat', async () => (beat = await lastSeen()) > before);
          }
          await withLag(on, async (lagging) => {
            const early = await on.status(lagging, '/replica?lag=1MB');
            const isBeforeNext = Date.now() / 1000 < beat + loopMs / 1000 - 0.5;
            expect({ early, isBeforeNext }).toEqual(
              on.expected('lag.recorded-position', { early: 200, isBeforeNext: true }),
            );
            await on.until(
              'the next heartbeat tells',
              async () => (await on.status(lagging, '/replica?lag=1MB')) === 503,
            );
          });
        });
      },
    );

    contract(
      'health.readiness.attached',
      '/readiness: 503 for a replica that does not stream; /replica stays 200',
      async (on) => {
        const [first] = await on.replicas();
        await detached(on, first, async () => {
          const contractual = on.expected('health.readiness.attached', 503);
          await on.until(
            `/readiness is ${String(contractual)}`,
            async () => (await on.status(first, '/readiness')) === contractual,
          );
          expect(await on.status(first, '/replica')).toBe(200);
          expect(record(await on.node(first))['state']).toBe('running');
        });
      },
    );
  },
};

/** Calls `run` while the replica's WAL receiver gets no connection; ALTER SYSTEM overrides the manager's own value. */
export async function detached(on: ContractRun, replica: MemberAddress, run: () => Promise<void>): Promise<void> {
  const streams = async () => (await on.sql(replica, 'select count(*)::int from pg_stat_wal_receiver')) === 1;
  await on.sql(replica, "alter system set primary_conninfo = 'host=127.0.0.1 port=1'");
  try {
    await on.sql(replica, 'select pg_reload_conf()');
    await on.until('detached', async () => !(await streams()));
    await run();
  } finally {
    await on.sql(replica, 'alter system reset primary_conninfo');
    await on.sql(replica, 'select pg_reload_conf()');
  }
}

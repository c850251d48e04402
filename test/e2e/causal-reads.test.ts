// Reads on replicas see every acknowledged write, of anybody, whatever happens to the cluster. Two workers.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import { expect, it } from 'vitest';
import { CREATE_REGISTERS, RegisterHistory, type Sights } from '../support/applications/register-history.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { delayReplay } from '../support/clusters/delayed-replay.ts';
import { questionsRole } from '../support/clusters/questions-role.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import { Command } from '../support/processes/command.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';
import { SERVER } from '../support/values/tls-files.ts';

const RUN_MS = Number(process.env['CAUSAL_READS_MS'] ?? 2_000);
const LIMIT_MS = 60_000;

describeOnEveryCluster({ name: 'causal reads', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const lab = on.clusterWithPointsman({
    sql: CREATE_REGISTERS,
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return {
        workers: 2,
        ...(cluster.tls === undefined && { client: { tls: { mode: 'terminate', ...SERVER } } }),
        questions: await questionsRole(cluster, directory.path),
        pools: {
          read: { causal_reads: { wait: '2s', late: 'error' }, slow_start: 0 },
          plain: { check: '/replica' },
          moving: {
            check: '/replica',
            causal_reads: { wait: '2s', late: 'primary' },
            fallback: { pool: 'write' },
            on_leave: { promoted: 'move', fallback_over: 'move' },
            slow_start: 0,
          },
        },
        listeners: ['write', 'read', 'plain', 'moving'].map((pool) => ({ address: '127.0.0.1:0', pool })),
        ...movesConfig(cluster, directory.path),
      };
    },
  });

  async function clientOf(pool: string): Promise<ClientConfig> {
    return { host: '127.0.0.1', port: await lab.pointsman.port(pool), ...lab.cluster.app };
  }

  /** The stale reads while `run` runs. */
  async function historyOf(pool: string, run: () => Promise<unknown>, isAsynchronous = false) {
    return (await sightsOf(pool, run, isAsynchronous)).stale;
  }

  /** The readers' sights while `run` ran. */
  async function sightsOf(pool: string, run: () => Promise<unknown>, isAsynchronous = false): Promise<Sights> {
    const [write, read] = await Promise.all([clientOf('write'), clientOf(pool)]);
    const readers = { [pool]: { config: read, readers: 8 } };
    const history = new RegisterHistory({ write, writers: 4, isAsynchronous, readers });
    const sights = history.sights(pool);
    try {
      await run();
      const before = sights.reads;
      await lab.pointsman.waitFor('reads go on', () => sights.reads > before + 50, LIMIT_MS);
    } finally {
      await history.stop();
    }
    const { reads, stale, lost, errors } = sights;
    const said = [...errors].map(([code, count]) => `${code}: ${count}`).join(', ') || 'no errors';
    console.log(
      `causal reads, ${pool}: ${reads} reads, ${stale.length} stale, ${lost} of lost writes, ` +
        `${history.writes} writes, ${said}`,
    );
    return sights;
  }

  it(
    'G26: replicas 50 ms late: no read of the gated pool is stale, and many of the other are',
    { timeout: 3 * LIMIT_MS },
    async () => {
      const [first, second] = await replicasOf(lab.cluster);
      for (const pool of ['read', 'plain']) await waitForMembers(lab, pool, [first, second]);
      await delayReplay(lab.cluster, 50);
      expect(await historyOf('plain', () => delay(RUN_MS))).not.toEqual([]);
      expect(await historyOf('read', () => delay(RUN_MS)), lab.pointsman.explain()).toEqual([]);
      expect(await historyOf('read', () => delay(RUN_MS), true), lab.pointsman.explain()).toEqual([]);
      await delayReplay(lab.cluster, 0);
    },
  );

  it(
    'G26: none is through a switchover, a restarted replica, and the death of a primary',
    { timeout: 5 * LIMIT_MS },
    async () => {
      const { cluster, pointsman } = lab;
      const run = async (): Promise<void> => {
        await cluster.switchover();
        await cluster.waitUntilHealthy();
        const [restarted] = await replicasOf(cluster);
        await cluster.restart(restarted.name);
        const dead = await cluster.leader();
        const after = cluster.watchFirstDirectWrite({ excluding: dead.name });
        await cluster.kill(dead.name);
        await after.done;
        await cluster.start(dead.name);
        await cluster.waitUntilHealthy();
      };
      expect(await historyOf('read', run), pointsman.explain()).toEqual([]);
    },
  );

  it(
    'G26, G24: no read fails in `pointsman switchover`: late ones move, at last to the primary',
    { timeout: 3 * LIMIT_MS },
    async () => {
      const { cluster, pointsman } = lab;
      await waitForMembers(lab, 'moving', await replicasOf(cluster), LIMIT_MS);
      await waitForCandidates(lab);
      const old = await cluster.leader();
      const admin = `127.0.0.1:${await pointsman.port('admin')}`;
      const run = async (): Promise<void> => {
        const command = new Command(['switchover', '--admin', admin, '--yes'], { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
        try {
          expect(await command.code, command.output).toBe(0);
        } finally {
          await command.stop();
        }
        await cluster.waitUntilHealthy();
      };
      const { stale, errors } = await sightsOf('moving', run);
      expect((await cluster.leader()).name).not.toBe(old.name);
      expect({ stale, errors }, pointsman.explain()).toEqual({ stale: [], errors: new Map() });
    },
  );
});

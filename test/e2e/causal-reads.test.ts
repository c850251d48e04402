// Reads on replicas see every acknowledged write, of anybody, whatever happens to the cluster. Two workers. With the
// scope `proxy` they see those through their process.
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { expect, it } from 'vitest';
import { CREATE_REGISTERS, RegisterHistory, type Sights } from '../support/applications/register-history.ts';
import type { ClusterWithPointsman } from '../support/clusters/cluster-with-pointsman.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import type { ClusterUnderTest } from '../support/patroni/cluster-under-test.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { delayReplay } from '../support/clusters/delayed-replay.ts';
import { questionsRole } from '../support/clusters/questions-role.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import { Command } from '../support/processes/command.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';
import { SERVER } from '../support/values/tls-files.ts';

const RUN_MS = Number(process.env['CAUSAL_READS_MS'] ?? 2_000);
const LIMIT_MS = 60_000;

/** Its clients' streams can be read. */
function readable(cluster: ClusterUnderTest): object {
  return cluster.tls === undefined ? { client: { tls: { mode: 'terminate', ...SERVER } } } : {};
}

describeOnEveryCluster({ name: 'causal reads', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  let questions: object = {};
  const lab = on.clusterWithPointsman({
    sql: CREATE_REGISTERS,
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      questions = await questionsRole(cluster, directory.path);
      return {
        workers: 2,
        ...readable(cluster),
        questions,
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

  async function clientOf(pool: string, { cluster, pointsman }: ClusterWithPointsman = lab): Promise<ClientConfig> {
    return { host: '127.0.0.1', port: await pointsman.port(pool), ...cluster.app };
  }

  /** The stale reads while `run` runs. */
  async function historyOf(pool: string, run: () => Promise<unknown>, isAsynchronous = false) {
    return (await sightsOf(pool, run, isAsynchronous)).stale;
  }

  /** The readers' sights while `run` ran. */
  async function sightsOf(
    pool: string,
    run: () => Promise<unknown>,
    isAsynchronous = false,
    at: ClusterWithPointsman = lab,
  ): Promise<Sights> {
    const [write, read] = await Promise.all([clientOf('write', at), clientOf(pool, at)]);
    const readers = { [pool]: { config: read, readers: 8 } };
    // On a machine without time left the reads are late already before the switchover, and lost with the old primary.
    const rests = pool === 'moving';
    const history = new RegisterHistory({ write, writers: 4, rests, isAsynchronous, readers });
    const sights = history.sights(pool);
    try {
      await run();
      const before = sights.reads;
      await at.pointsman.waitFor('reads go on', () => sights.reads > before + 50, LIMIT_MS);
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
    'G26: with the scope proxy no read misses a write of its process, and without one the primary is not asked',
    { timeout: 4 * LIMIT_MS },
    async () => {
      const { cluster } = lab;
      const read = { causal_reads: { scope: 'proxy', wait: '2s', late: 'error' }, slow_start: 0 };
      const pointsman = await startPointsman(configFor(cluster, { ...readable(cluster), questions, pools: { read } }));
      const at = { cluster, pointsman };
      try {
        await waitForMembers(at, 'read', await replicasOf(cluster), LIMIT_MS);
        await delayReplay(cluster, 50);
        const { stale } = await sightsOf('read', () => delay(RUN_MS), true, at);
        expect(stale, pointsman.explain()).toEqual([]);
        await delayReplay(cluster, 0);
        const moved = await sightsOf(
          'read',
          () => cluster.switchover().then(() => cluster.waitUntilHealthy()),
          false,
          at,
        );
        expect(moved.stale, pointsman.explain()).toEqual([]);
        expect(await questionsOfReads(at, 100)).toBeLessThan(5);
      } finally {
        await pointsman.stop();
      }
    },
  );

  /** Reads of one session while others write past Pointsman: how often the primary is asked. */
  async function questionsOfReads(at: ClusterWithPointsman, reads: number): Promise<number> {
    const { cluster, pointsman } = at;
    const primary = await cluster.leader();
    const sample = `pointsman_causal_reads_total{pool="read",result="free"}`;
    const client = new Client(await clientOf('read', at));
    await client.connect();
    try {
      await client.query('select 1');
      const before = (await pointsman.metric(sample)) ?? 0;
      for (let round = 0; round < reads; round += 1) {
        if (round % 20 === 0)
          await cluster.sql(primary.name, 'update registers set n = n where id = 99', { as: cluster.app });
        await client.query('select 1');
      }
      return reads - (((await pointsman.metric(sample)) ?? 0) - before);
    } finally {
      await client.end();
    }
  }

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
          expect(await command.ended(), command.output).toBe(0);
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

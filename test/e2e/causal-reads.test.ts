// Reads on replicas see every acknowledged write, of anybody, whatever happens to the cluster. Two workers.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import { expect, it } from 'vitest';
import { CREATE_REGISTERS, RegisterHistory } from '../support/applications/register-history.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import { SERVER } from '../support/values/tls-files.ts';

const ROLE = readFileSync(new URL('../../deploy/reads.sql', import.meta.url), 'utf8');
const PASSWORD = 'monitor-1';
const RUN_MS = Number(process.env['CAUSAL_READS_MS'] ?? 2_000);
const LIMIT_MS = 60_000;

describeOnEveryCluster({ name: 'causal reads', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const lab = on.clusterWithPointsman({
    sql: CREATE_REGISTERS,
    async pointsman(cluster) {
      const { name } = await cluster.leader();
      await cluster.sql(name, `${ROLE}; ALTER ROLE pointsman_monitor PASSWORD '${PASSWORD}'`, { timeoutMs: 20_000 });
      const file = join(directory.path, 'monitor-password');
      writeFileSync(file, `${PASSWORD}\n`, { mode: 0o600 });
      return {
        workers: 2,
        ...(cluster.tls === undefined && { client: { tls: { mode: 'terminate', ...SERVER } } }),
        questions: { user: 'pointsman_monitor', password_file: file },
        pools: { read: { causal_reads: { wait: '2s', late: 'error' }, slow_start: 0 }, plain: { check: '/replica' } },
        listeners: ['write', 'read', 'plain'].map((pool) => ({ address: '127.0.0.1:0', pool })),
      };
    },
  });

  async function clientOf(pool: string): Promise<ClientConfig> {
    return { host: '127.0.0.1', port: await lab.pointsman.port(pool), ...lab.cluster.app };
  }

  async function delayReplay(member: string, delayText: string): Promise<void> {
    await lab.cluster.sql(member, `alter system set recovery_min_apply_delay = '${delayText}'`);
    await lab.cluster.sql(member, 'select pg_reload_conf()');
  }

  /** The stale reads while `run` runs. */
  async function historyOf(
    pool: string,
    run: () => Promise<unknown>,
    isAsynchronous = false,
  ): Promise<readonly string[]> {
    const [write, read] = await Promise.all([clientOf('write'), clientOf(pool)]);
    const history = new RegisterHistory({ write, read, writers: 4, readers: 8, isAsynchronous });
    try {
      await run();
      const before = history.reads;
      await lab.pointsman.waitFor('reads go on', () => history.reads > before + 50, LIMIT_MS);
    } finally {
      history.stop().catch(() => undefined);
    }
    const stale = await history.stop();
    const said = [...history.errors].map(([code, count]) => `${code}: ${count}`).join(', ') || 'no errors';
    console.log(
      `causal reads, ${pool}: ${history.reads} reads, ${stale.length} stale, ${history.writes} writes, ${said}`,
    );
    return stale;
  }

  it(
    'G26: replicas 50 ms late: no read of the gated pool is stale, and many of the other are',
    { timeout: 3 * LIMIT_MS },
    async () => {
      const [first, second] = await replicasOf(lab.cluster);
      for (const pool of ['read', 'plain']) await waitForMembers(lab, pool, [first, second]);
      for (const { name } of [first, second]) await delayReplay(name, '50ms');
      expect(await historyOf('plain', () => delay(RUN_MS))).not.toEqual([]);
      expect(await historyOf('read', () => delay(RUN_MS)), lab.pointsman.explain()).toEqual([]);
      expect(await historyOf('read', () => delay(RUN_MS), true), lab.pointsman.explain()).toEqual([]);
      for (const { name } of [first, second]) await delayReplay(name, '0');
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
});

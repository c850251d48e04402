// `npm run bench:reads`: the price of reads that see every acknowledged write, on a real Patroni cluster. A pool with
// `causal_reads` is beside replicas without a gate (stale reads), reads at the primary, and writers that wait for the
// replicas (`remote_apply`).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { questionsRole } from '../support/clusters/questions-role.ts';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import { SERVER } from '../support/values/tls-files.ts';
import { clusterFacts } from './failover/facts.ts';
import { readOptions } from './reads/price/options.ts';
import { CREATE_ROWS, startReaders } from './reads/price/readers.ts';
import { measure, type Measured, type PriceStage } from './reads/price/round.ts';
import { head, LEGEND, row } from './reads/price/table.ts';
import { type Way, WAYS, waysFor } from './reads/price/ways.ts';
import { CREATE_WRITTEN } from './reads/price/writers.ts';

const WARM_UP_MS = 1_000;

const options = readOptions(process.argv.slice(2));

// The cluster ends with its pipes to this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const directory = mkdtempSync(join(tmpdir(), 'pointsman-bench-reads-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));

const facts = await clusterFacts();
const cluster = await startPatroniCluster({ parameters: { max_connections: 400 }, synchronousMode: true });
try {
  const primary = await cluster.leader();
  await waitForBothReplicas(cluster, primary.name);
  await cluster.sql(primary.name, `${CREATE_ROWS}; ${CREATE_WRITTEN}`, { as: cluster.app });
  const questions = await questionsRole(cluster, directory);
  const pointsman = await startPointsman(
    configFor(cluster, {
      // Its clients use plain text.
      client: { tls: { mode: 'terminate', ...SERVER } },
      questions,
      pools: {
        write: { check: '/primary' },
        plain: { check: '/replica', slow_start: 0 },
        gated: { check: '/replica', slow_start: 0, causal_reads: { scope: options.scope, wait: '2s', late: 'error' } },
      },
      listeners: ['write', 'plain', 'gated'].map((pool) => ({ address: '127.0.0.1:0', pool })),
      log: { level: 'info', format: 'json' },
    }),
  );
  try {
    await pointsman.waitUntilReady();
    const replicas = await replicasOf(cluster);
    for (const pool of ['plain', 'gated']) await waitForMembers({ cluster, pointsman }, pool, replicas);
    const stage = { cluster, pointsman, primary, directory, asker: questions.user };
    await warmUp(stage);
    await report(stage);
  } finally {
    await pointsman.stop();
  }
} finally {
  await cluster.destroy();
}

/** `remote_apply` then waits for both. */
async function waitForBothReplicas(of: PatroniCluster, primary: string): Promise<void> {
  await of.patchConfig({ synchronous_node_count: 2 });
  const counted = `select count(*)::int as n from pg_stat_replication where sync_state = 'sync'`;
  const areBoth = async () => (await of.sql(primary, counted))[0]?.['n'] === 2;
  await of.waitUntil('two synchronous replicas', areBoth, 30_000);
}

/** Code and sessions that are new take longer. */
async function warmUp({ cluster: { app: as }, pointsman, directory: folder }: PriceStage): Promise<void> {
  const read = async (pool: string): Promise<void> => {
    const to = { port: await pointsman.port(pool), as };
    const readers = startReaders({ to, readers: 4, directory: folder });
    await readers.end({ fromMs: 0, untilMs: Date.now() + WARM_UP_MS });
  };
  await Promise.all([...new Set(WAYS.map(({ pool }) => pool))].map(read));
}

async function report(stage: PriceStage): Promise<void> {
  const { rounds, seconds } = options;
  console.log(`${rounds} rounds of ${seconds} s. ${LEGEND}`);
  for (const writes of options.writes) {
    for (const readers of options.readers) {
      const ways = waysFor(writes);
      const found = new Map<Way, Measured[]>(ways.map((way) => [way, []]));
      for (let round = 0; round < rounds; round += 1) {
        // None is always the first.
        const turn = round % ways.length;
        for (const way of [...ways.slice(turn), ...ways.slice(0, turn)])
          found.get(way)?.push(await measure(stage, { way, readers, writes, seconds }));
      }
      const [reference = []] = found.values();
      console.log(`\n${head(readers, writes)}`);
      for (const [{ name }, all] of found) console.log(row(name, all, reference));
    }
  }
  console.log(`\n${facts.map((fact) => `- ${fact}`).join('\n')}`);
}

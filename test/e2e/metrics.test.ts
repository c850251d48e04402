// The metrics of a running Pointsman, as Prometheus reads them: complete, clean, and true while the cluster changes.
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { HeldSession } from '../support/applications/held-session.ts';
import type { ClusterWithPointsman } from '../support/clusters/cluster-with-pointsman.ts';
import type { PointsmanWanted } from '../support/clusters/cluster-with-pointsman.ts';
import { describeOnEveryCluster, describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { questions } from '../support/clusters/userlist.ts';
import { writeWal } from '../support/clusters/write-wal.ts';
import { metricFindings, missingPromtool } from '../support/deploy/monitoring/promtool.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { itUnless } from '../support/runner/unless-missing.ts';
import { withoutScope } from '../support/values/samples.ts';
import { SERVER } from '../support/values/tls-files.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const PAGE = new URL('../../deploy/metrics.md', import.meta.url);
const STARTUPS = 'pointsman_client_startups_total';
const LAG_MB = 8;
/** Between a decision and its log line, on a machine with other work. Here it is some milliseconds. */
const CLOCKS_S = 1;

/** Everything that a metric can be about is there. */
function wanted(workers: number, directory: { readonly path: string }): PointsmanWanted {
  return {
    pointsman: async (cluster) => ({
      workers,
      client: { tls: { mode: 'terminate', ...SERVER }, max_handshakes: 50 },
      questions: await questions(cluster, directory.path),
      pools: {
        read: { balance: 'latency', when_all_lagging: 'least_lagging', causal_reads: { wait: '20s', late: 'error' } },
      },
      branches: { source: 'static', static: { 'pr-1': '127.0.0.1:1' } },
      moves: { roles: ['*'] },
      admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
    }),
  };
}

type Samples = ReadonlyMap<string, number>;

async function samplesOf(pointsman: PointsmanProcess): Promise<Samples> {
  const lines = withoutScope((await pointsman.admin('/metrics')).text).split('\n');
  const parts = lines.flatMap((line) => {
    const [, name = '', value] = /^([a-z].*) (\S+)$/.exec(line) ?? [];
    return value === undefined ? [] : [[name, Number(value)] as const];
  });
  return new Map(parts);
}

/** Over the series whose names contain all of `parts`. */
function sum(samples: Samples, ...parts: readonly string[]): number {
  const found = [...samples].filter(([name]) => parts.every((part) => name.includes(part)));
  return found.reduce((total, [, value]) => total + value, 0);
}

function labelsOf(samples: Samples, metric: string): readonly string[] {
  return [...samples.keys()].filter((name) => name.startsWith(`${metric}{`)).map((name) => name.slice(metric.length));
}

/** Seconds, without those of the start. */
function outageOf(samples: Samples): number {
  const times = 'pointsman_pool_no_route_seconds_total{pool="write"';
  return sum(samples, times) - sum(samples, times, 'cause="starting"');
}

/** The same by the times of the log. */
function outageInLog({ lines }: PointsmanProcess): number {
  const changes = lines.filter(({ event, pool }) => event === 'route_changed' && pool === 'write');
  let [seconds, lostAt] = [0, 0];
  for (const { time, from, to } of changes) {
    const at = Date.parse(String(time)) / 1000;
    if (from === 'open' && to !== 'open') lostAt = at;
    if (from !== 'open' && to === 'open' && lostAt > 0) seconds += at - lostAt;
  }
  return seconds;
}

async function documented(): Promise<readonly string[]> {
  const [, table = ''] = (await readFile(PAGE, 'utf8')).split('## All metrics');
  const [rows = ''] = table.split('## Values of labels');
  return [...rows.matchAll(/^\| `(pointsman_\w+)` \|/gm)].map(([, name = '']) => name);
}

/** The documented metrics without a series. Each of them is declared. */
async function silentIn(text: string): Promise<readonly string[]> {
  const samples = text.split('\n').filter((line) => !line.startsWith('#'));
  const declared = new Map([...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', type]) => [name, type]));
  return (await documented()).filter((name) => {
    expect(declared.has(name), name).toBe(true);
    const series = declared.get(name) === 'histogram' ? `${name}_count` : name;
    return !samples.some((line) => line.startsWith(`${series}{`));
  });
}

function scenarios(lab: ClusterWithPointsman): void {
  it('lag of a replica that does not replay; sessions that can be subtracted; encryption of clients', async () => {
    const { cluster, pointsman } = lab;
    const [lagging, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [lagging, other]);
    const lag = (name: string) => pointsman.metric(`pointsman_member_replication_lag_bytes{member="${name}"}`);
    await cluster.lagReplica(lagging.name);
    try {
      await writeWal(cluster, LAG_MB);
      await pointsman.waitFor('the lag', async () => ((await lag(lagging.name)) ?? 0) >= LAG_MB * 1024 * 1024);
      await pointsman.waitFor('no lag of the other', async () => ((await lag(other.name)) ?? Infinity) < 1024 * 1024);
    } finally {
      await cluster.unlagReplica(lagging.name);
    }
    await pointsman.waitFor('its end', async () => ((await lag(lagging.name)) ?? Infinity) < 1024 * 1024);
    expect(await lag((await cluster.leader()).name)).toBeUndefined();

    const port = await pointsman.port('write');
    const plain = await HeldSession.open(port, { ...cluster.app, database: `${cluster.app.database}@read` });
    const encrypted = new Client({ host: '127.0.0.1', port, ...cluster.app, ssl: { rejectUnauthorized: false } });
    await encrypted.connect();
    await pointsman.waitFor('both sessions', async () => {
      const now = await samplesOf(pointsman);
      const live = ['write', 'read'].map((pool) => now.get(`pointsman_sessions{pool="${pool}",state="relaying"}`));
      const left = ['write', 'read'].map(
        (pool) =>
          (now.get(`pointsman_sessions_started_total{pool="${pool}"}`) ?? Number.NaN) -
          sum(now, `pointsman_sessions_closed_total{pool="${pool}"`),
      );
      const begun = [
        now.get(`${STARTUPS}{encryption="plain",tls_version="none",protocol="3.0"}`),
        now.get(`${STARTUPS}{encryption="terminated",tls_version="1.3",protocol="3.0"}`),
      ];
      return (
        JSON.stringify([live, left, begun]) ===
        JSON.stringify([
          [1, 1],
          [1, 1],
          [1, 1],
        ])
      );
    });
    await Promise.all([plain.close(), encrypted.end()]);
  });

  it('a kill of the primary: the wait of a client, the time without a route, and a failover', async () => {
    const { cluster, pointsman } = lab;
    await cluster.waitUntilHealthy();
    const old = await cluster.leader();
    await waitForMembers(lab, 'write', [old]);
    const before = await samplesOf(pointsman);
    expect(labelsOf(before, 'pointsman_primary_info')).toEqual([expect.stringContaining(`member="${old.name}"`)]);
    expect(labelsOf(before, 'pointsman_member_info').filter((labels) => labels.includes('role="primary"'))).toEqual([
      expect.stringContaining(`member="${old.name}"`),
    ]);
    expect(sum(before, 'pointsman_primary_changes_total')).toBe(0);

    // Nobody is promoted until the scrapes are done.
    const replicas = await replicasOf(cluster);
    for (const { name } of replicas) await cluster.freezeManager(name);
    await cluster.kill(old.name);
    await waitForMembers(lab, 'write', []);
    const client = HeldSession.open(await pointsman.port('write'), cluster.app);
    const waits = 'pointsman_held_clients_oldest_wait_seconds{pool="write"}';
    const first = await pointsman.waitFor('a client that waits', async () => {
      const now = await samplesOf(pointsman);
      return (now.get(waits) ?? 0) > 0 && now;
    });
    const second = await pointsman.waitFor('a longer wait', async () => {
      const now = await samplesOf(pointsman);
      return (now.get(waits) ?? 0) > (first.get(waits) ?? 0) && now;
    });
    expect(second.get('pointsman_held_clients{pool="write"}')).toBe(1);
    expect(outageOf(second)).toBeGreaterThan(outageOf(first));
    expect(labelsOf(second, 'pointsman_primary_info')).toEqual([]);

    for (const { name } of replicas) await cluster.thawManager(name);
    await (await client).close();
    const next = await cluster.leader();
    const after = await samplesOf(pointsman);
    expect(after.get(waits)).toBe(0);
    expect(after.get('pointsman_primary_changes_total{kind="failover"}')).toBe(1);
    expect(after.get('pointsman_primary_changes_total{kind="switchover"}')).toBe(0);
    const since = after.get(`pointsman_primary_since_timestamp_seconds{member="${next.name}"}`);
    expect(after.get('pointsman_primary_last_change_timestamp_seconds{kind="failover"}')).toBe(since);
    expect(labelsOf(after, 'pointsman_primary_info')).toEqual([expect.stringContaining(`member="${next.name}"`)]);
    expect(labelsOf(after, 'pointsman_member_info')).toContain(
      `{member="${old.name}",role="unknown",state="unknown",timeline="unknown"}`,
    );
    const [measured, logged] = [outageOf(after), outageInLog(pointsman)];
    console.log(`time without a route: ${measured.toFixed(3)} s by the metric, ${logged.toFixed(3)} s by the log`);
    expect(Math.abs(measured - logged)).toBeLessThan(CLOCKS_S);
    await cluster.start(old.name);
  });

  it('a switchover is none of the failovers', async () => {
    const { cluster, pointsman } = lab;
    await cluster.waitUntilHealthy();
    const next = await cluster.switchover();
    await waitForMembers(lab, 'write', [next]);
    await cluster.waitUntilHealthy();
    const kinds = ['failover', 'switchover'];
    const now = await samplesOf(pointsman);
    const changes = kinds.map((kind) => now.get(`pointsman_primary_changes_total{kind="${kind}"}`));
    expect(changes, (await pointsman.admin('/incidents')).text).toEqual([1, 1]);
  });

  itUnless(missingPromtool, 'promtool reports nothing, and every documented metric is there', async () => {
    const { cluster, pointsman } = lab;
    const [replica] = await replicasOf(cluster);
    await pointsman.operate(`/members/${replica.name}/drain`, ADMIN_TOKEN);
    const session = await HeldSession.open(await pointsman.port('write'), cluster.app);
    // The plan asks the sessions of the primary whether they can move.
    expect((await pointsman.admin('/switchover')).status).toBe(200);
    const reader = await HeldSession.open(await pointsman.port('read'), cluster.app);
    const hasWorkers = (await pointsman.metric('pointsman_workers')) !== 0;
    const withoutCause = [...WITHOUT_CAUSE, ...(hasWorkers ? [] : OF_WORKERS)];
    // Some values are unknown for a moment on a busy machine, such as a lag.
    const silent = async () => silentIn((await pointsman.admin('/metrics')).text);
    await expect.poll(silent, { interval: 100, timeout: 20_000 }).toEqual(withoutCause);
    const { text } = await pointsman.admin('/metrics');
    await Promise.all([session.close(), reader.close()]);
    expect(await metricFindings(text)).toBe('');
    // Every series names the cluster.
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(samples.filter((line) => !line.includes(`scope="${cluster.scope}"`))).toEqual([]);
  });
}

/** Every member is used, and none has TLS (member-tls.test.ts). */
const WITHOUT_CAUSE = ['pointsman_member_refused', 'pointsman_member_tls_certificate_expiry_timestamp_seconds'];

const OF_WORKERS = ['cpu_seconds_total', 'resident_memory_bytes', 'restarts_total', 'sessions'].map(
  (what) => `pointsman_worker_${what}`,
);

describeOnEveryCluster('metrics', (on) => scenarios(on.clusterWithPointsman(wanted(1, temporaryDirectory()))));
describeOnSandbox('metrics of workers', (on) => scenarios(on.clusterWithPointsman(wanted(2, temporaryDirectory()))));

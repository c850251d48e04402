// The image before three members and an etcd in one container network: the view of an application on the published
// ports when the cluster changes and when Pointsman stops.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClusterInContainers } from '../../support/containers/cluster.ts';
import type { ClusterInContainers } from '../../support/containers/cluster.ts';
import type { ContainerWanted, RunningContainer } from '../../support/containers/container.ts';
import type { ContainerLab } from '../../support/containers/lab.ts';
import { attemptOnce, READ_ROW, startConnectLoad, WRITE_ROW } from '../../support/applications/connect-load.ts';
import type { Attempt } from '../../support/applications/connect-load.ts';
import { APP } from '../../support/patroni/settings.ts';
import { runSql } from '../../support/patroni/sql.ts';
import { waitUntil } from '../../support/waiting/wait.ts';

const WRITE = 6432;
const READ = 6433;
const ADMIN = 8432;
const PORTS = [WRITE, READ, ADMIN];
const STARTING_TIMEOUT_MS = 240_000;
/** PostgreSQL's own message, or Pointsman's for a server that ended without one. */
const OF_POSTGRES =
  /^(57P01 terminating connection due to administrator command|57P03 pointsman: .* \(backend_(closed|reset)\))$/;
const BOTH_READ = /^pointsman_pool_open_members\{.*pool="read".*\} 2$/m;
const GRACE_S = 1;
const DRAIN_S = 15;

export function describeImageInCluster(lab: () => ContainerLab): void {
  describe('in containers with a cluster', () => {
    let cluster: ClusterInContainers;
    let pointsman: RunningContainer;
    const clients: Client[] = [];

    beforeAll(async () => {
      cluster = await startClusterInContainers(lab());
      pointsman = await startReady(lab(), { name: 'pointsman', environment: seedsOf(cluster) });
    }, STARTING_TIMEOUT_MS);
    afterAll(async () => {
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    });

    function attempt(port: number, sql: string): Promise<Attempt> {
      return attemptOnce({ host: '127.0.0.1', port: pointsman.port(port), ...APP, sql });
    }

    async function connected(port: number): Promise<Client> {
      const client = new Client({ host: '127.0.0.1', port, ...APP });
      client.on('error', () => undefined);
      clients.push(client);
      await client.connect();
      return client;
    }

    async function replicas(): Promise<readonly string[]> {
      const primary = await cluster.primary();
      return Promise.all(cluster.members.filter((member) => member !== primary).map(serverOf));
    }

    /** Resolves when the pool routes to one of these servers. */
    async function waitForServer(port: number, sql: string, among: readonly string[]): Promise<void> {
      const leadsThere = async (): Promise<boolean> => among.includes((await attempt(port, sql)).server ?? '');
      const limits = { timeoutMs: 60_000, explain: () => statusOf(pointsman) };
      await waitUntil(`port ${port} leads to ${among.join(', ')}`, leadsThere, limits);
    }

    async function rowsOnPrimary(): Promise<ReadonlySet<number>> {
      const primary = cluster.address(await cluster.primary());
      const rows = await runSql(primary, 'select id::int from writes', { as: APP, timeoutMs: 20_000 });
      return new Set(rows.map(({ id }) => Number(id)));
    }

    it('the environment alone is enough: writes go to the primary, reads to a replica', async () => {
      await waitForServer(WRITE, WRITE_ROW, [await serverOf(await cluster.primary())]);
      await waitForServer(READ, READ_ROW, await replicas());
    });

    it('its metrics show the members', async () => {
      const limits = { timeoutMs: 60_000, explain: () => statusOf(pointsman) };
      const text = await waitUntil('both replicas in the metrics', () => scraped(pointsman, BOTH_READ), limits);
      expect(text).toMatch(/^pointsman_build_info\{.*\} 1$/m);
    });

    it('becomes healthy by the health check of the image', async () => {
      await waitUntil('healthy', () => isHealthy(pointsman), {
        timeoutMs: 60_000,
        everyMs: 200,
        explain: () => statusOf(pointsman),
      });
    });

    it('a switchover refuses no client and loses no row', async () => {
      await waitForServer(READ, READ_ROW, await replicas());
      const at = { host: '127.0.0.1', port: pointsman.port(WRITE), ...APP, sql: WRITE_ROW };
      const load = startConnectLoad({ ...at, perSecond: 10 });
      const next = await cluster.switchover();
      await waitForServer(WRITE, WRITE_ROW, [await serverOf(next)]);
      const attempts = await load.stop();
      // Sessions that were logging in at the old primary during its shutdown get that server's error.
      const refused = attempts
        .flatMap(({ connectError }) => connectError ?? [])
        .filter((error) => !OF_POSTGRES.test(error));
      expect(refused).toEqual([]);
      expect(attempts.filter(({ server }) => server !== undefined).length).toBeGreaterThan(0);
      const there = await rowsOnPrimary();
      expect(attempts.filter(({ rowId }) => rowId !== undefined && !there.has(rowId))).toEqual([]);
      await cluster.waitUntilHealthy();
    });

    it('after the death of the primary new clients are held until there is another', async () => {
      await cluster.waitUntilHealthy();
      const old = await cluster.primary();
      await old.signal('SIGKILL');
      const { error, server } = await attempt(WRITE, WRITE_ROW);
      expect(error, error && (await cluster.explain())).toBeUndefined();
      const next = await cluster.primary();
      expect(next).not.toBe(old);
      expect(server).toBe(await serverOf(next));

      await old.startAgain();
      await cluster.waitUntilHealthy();
      await waitForServer(READ, READ_ROW, [await serverOf(old)]);
    });

    it('SIGTERM: an open transaction ends first, its session gets 57P01, and the exit code is 0', async () => {
      const text = [
        `cluster: { seeds: [${cluster.seeds.join(', ')}] }`,
        "listeners: [{ address: '*:6432', pool: write }, { address: '*:6433', pool: read }]",
        "admin: { address: '*:8432' }",
        `shutdown: { grace: ${GRACE_S}s, drain_timeout: ${DRAIN_S}s }`,
      ].join('\n');
      const files = { '/etc/pointsman/pointsman.yaml': await lab().file('draining.yaml', text) };
      const draining = await startReady(lab(), { name: 'draining', files });
      const [busy, idle] = await Promise.all([connected(draining.port(WRITE)), connected(draining.port(WRITE))]);
      const [busyTold, idleTold] = [firstWords(busy), firstWords(idle)];
      await busy.query('begin');
      const {
        rows: [row],
      } = await busy.query<{ id: string }>(WRITE_ROW);
      await draining.signal('SIGTERM');
      expect(await idleTold).toMatch(/^57P01 pointsman: /);
      expect(await busy.query('commit')).toMatchObject({ command: 'COMMIT' });
      expect(await rowsOnPrimary()).toContain(Number(row?.id));
      expect(await draining.exited()).toBe(0);
      expect(await busyTold).toMatch(/^57P01 pointsman: /);
    });

    it('SIGTERM: an unfinished session is cut at the deadline, and the exit code is still 0', async () => {
      const times = { POINTSMAN_SHUTDOWN_GRACE: '0s', POINTSMAN_SHUTDOWN_DRAIN_TIMEOUT: '2s' };
      const brief = await startReady(lab(), { name: 'impatient', environment: { ...seedsOf(cluster), ...times } });
      const stuck = await connected(brief.port(WRITE));
      await stuck.query('begin');
      await brief.signal('SIGTERM');
      expect(await brief.exited()).toBe(0);
      await expect(stuck.query('commit')).rejects.toThrow();
    });
  });
}

function seedsOf({ seeds }: ClusterInContainers): Record<string, string> {
  return { POINTSMAN_CLUSTER_SEEDS: seeds.join(',') };
}

async function startReady(lab: ContainerLab, wanted: Omit<ContainerWanted, 'image'>): Promise<RunningContainer> {
  const started = await lab.start({ image: lab.image, ports: PORTS, confined: true, ...wanted });
  const isReady = async (): Promise<boolean> => {
    const { status } = await admin(started, '/readyz');
    return status === 200;
  };
  const explain = async (): Promise<string> => JSON.stringify(await started.logs());
  await waitUntil(`${wanted.name} ready`, isReady, { timeoutMs: 60_000, explain });
  return started;
}

async function isHealthy(container: RunningContainer): Promise<boolean> {
  const { State: state } = await container.inspect();
  return state.Health?.Status === 'healthy';
}

/** Resolves with the error that ends the session, from the server or from Pointsman. */
function firstWords(client: Client): Promise<string> {
  return new Promise((resolve) => {
    client.once('error', (error) => resolve(`${'code' in error ? String(error.code) : ''} ${error.message}`));
    client.once('end', () => resolve('closed without a word'));
  });
}

function admin(of: RunningContainer, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${of.port(ADMIN)}${path}`);
}

async function statusOf(of: RunningContainer): Promise<string> {
  const response = await admin(of, '/status');
  return response.text();
}

/** The metrics, as soon as they have Prometheus's content type and match. */
async function scraped(of: RunningContainer, wanted: RegExp): Promise<string | false> {
  const response = await admin(of, '/metrics');
  const text = await response.text();
  return response.headers.get('content-type')?.startsWith('text/plain') === true && wanted.test(text) && text;
}

/** The address in the container network, as attempts report it. */
async function serverOf(member: RunningContainer): Promise<string> {
  const { NetworkSettings: settings } = await member.inspect();
  const [network] = Object.values(settings.Networks);
  return `${network?.IPAddress}:5432`;
}

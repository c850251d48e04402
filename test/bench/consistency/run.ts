// One run: a cluster, a Pointsman in one mode, clients, faults, and everything that the judge needs.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { randomFrom } from '../../support/branches/quirks.ts';
import { serverName } from '../../support/clusters/server-name.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { startPatroniCluster } from '../../support/patroni/start-cluster.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { isIsolated } from '../failover/network.ts';
import type { Target } from './clients/application.ts';
import { startDirectClients } from './clients/direct.ts';
import { clientPerTransaction, keptClient, nodePostgresPool } from './clients/node-postgres.ts';
import { postgresJs } from './clients/postgres-js.ts';
import { libpqProgram } from './clients/programs.ts';
import { Workload } from './clients/workload.ts';
import { balances, createTables, digest, rowWriters, SERVER_PARAMETERS, storedWrites } from './database.ts';
import { playFaults } from './faults/campaign.ts';
import { briefPlan, type FaultKind, planOf } from './faults/plan.ts';
import type { Ending, FaultRecord, Fork, History, Write } from './history.ts';
import { doubtfulTransactions } from './judge/losses.ts';
import { AS_POINTSMAN, Network } from './network.ts';
import type { Mode } from './options.ts';
import { type ProxyPorts, ReplaceableProxy, type StartProxy } from './replaceable-proxy.ts';
import { readServerLog } from './server-log.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

/** The bounds of the fence follow from these settings. */
export const PROBE = { intervalMs: 1000, timeoutMs: 800, silenceGraceMs: 15_000 };
/** In which every client must be served after the last fault. */
const AFTERWARDS_MS = 5000;
const LISTED_MS = 60_000;
/** After a cut TCP sends again more and more seldom. */
const CAUGHT_UP_MS = 60_000;

export interface RunOptions {
  readonly mode: Mode;
  readonly seed: number;
  readonly minutes: number;
  readonly isBrief: boolean;
  readonly kinds: readonly FaultKind[];
  readonly hasTls: boolean;
  readonly pointsmen: number;
  readonly tell: (line: string) => void;
}

export interface FinishedRun {
  readonly history: History;
  readonly fromMs: number;
  readonly toMs: number;
  /** Live sessions that Pointsman moved, by result. */
  readonly moves: ReadonlyMap<string, number>;
  readonly members: readonly { readonly name: string; readonly server: string }[];
  /** Log lines of Pointsman above the level debug. */
  readonly pointsmanLog: readonly string[];
  readonly serverLogs: ReadonlyMap<string, string>;
}

export async function playRun(options: RunOptions): Promise<FinishedRun> {
  const { mode, tell } = options;
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-consistency-'));
  // A signal leaves nothing behind, either.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  tell('starting the cluster');
  const cluster = await startPatroniCluster({
    synchronousMode: mode.replication === 'synchronous',
    hostGroups: isIsolated(),
    tls: options.hasTls,
    parameters: SERVER_PARAMETERS,
  });
  const proxies: ReplaceableProxy[] = [];
  try {
    await createTables(cluster);
    await prepareDatabase(cluster);
    const network = isIsolated() ? await Network.open(cluster.members()) : undefined;
    if (network === undefined) tell('no network namespace of its own: there are no cuts');
    const within = network === undefined ? [] : AS_POINTSMAN;
    const start: StartProxy = (ports) =>
      startPointsman(configFor(cluster, sectionsOf(cluster, mode, directory, ports)), {}, { within });
    for (let count = 0; count < options.pointsmen; count += 1) proxies.push(await ReplaceableProxy.open(start));
    return await playOn(cluster, proxies, network, options);
  } finally {
    for (const proxy of proxies) await proxy.stop();
    await cluster.destroy();
  }
}

function sectionsOf(
  cluster: PatroniCluster,
  { moves }: Mode,
  directory: string,
  ports: ProxyPorts,
): Record<string, unknown> {
  const probe = {
    interval: `${PROBE.intervalMs}ms`,
    timeout: `${PROBE.timeoutMs}ms`,
    silence_grace: `${PROBE.silenceGraceMs}ms`,
  };
  const admin = { address: '127.0.0.1:0', token: ADMIN_TOKEN };
  const more = moves === 'off' ? { admin } : movesConfig(cluster, directory, { mode: moves });
  const listeners = (['write', 'read'] as const).map((pool) => ({
    address: `127.0.0.1:${ports[pool]}`,
    pool,
    reuse_port: true,
  }));
  return { probe, listeners, log: { level: 'info', format: 'json' }, ...more };
}

async function playOn(
  cluster: PatroniCluster,
  proxies: readonly ReplaceableProxy[],
  network: Network | undefined,
  { mode, seed, minutes, isBrief, kinds, tell }: RunOptions,
): Promise<FinishedRun> {
  const workload = await startWorkload(cluster, proxies, seed);
  const [proxy] = proxies;
  if (proxy === undefined) throw new Error('no Pointsman');
  const stopDirect = startDirectClients(cluster.members(), cluster.app);
  const fromMs = Date.now();
  tell('clients are at work');
  let faults: readonly FaultRecord[] = [];
  let healedAtMs = 0;
  try {
    const random = randomFrom(seed);
    faults = await playFaults({
      stage: { cluster, proxy, network, isSynchronous: mode.replication === 'synchronous' },
      plan: isBrief ? briefPlan(random) : planOf(random, kinds),
      untilMs: fromMs + minutes * 60_000,
      tell,
    });
    healedAtMs = Date.now();
    tell('all faults have ended');
    await delay(AFTERWARDS_MS);
  } finally {
    await Promise.all([workload.stop(), stopDirect()]);
  }
  const stoppedAtMs = Date.now();
  tell('clients have stopped');
  const { clients, writes, sights } = workload;
  const times = { healedAtMs, stoppedAtMs };
  const logs = new Map(
    cluster.members().map((member) => [member.name, readFileSync(cluster.logFile(member.name), 'utf8')]),
  );
  const read = cluster.members().map((member) => readServerLog(serverName(member), logs.get(member.name) ?? ''));
  const ending = await readEnding(cluster, writes, times);
  const history = {
    clients,
    writes,
    sights,
    faults,
    ending,
    executed: read.flatMap(({ executed }) => executed),
    commits: read.flatMap(({ commits }) => commits),
    promotions: read.flatMap(({ promotions }) => promotions),
    claims: read.flatMap(({ claims }) => claims),
  };
  return {
    history,
    fromMs,
    toMs: stoppedAtMs,
    moves: await movesOf(proxies),
    members: cluster.members().map((member) => ({ name: member.name, server: serverName(member) })),
    pointsmanLog: proxies.flatMap((one) => one.log()),
    serverLogs: logs,
  };
}

async function movesOf(proxies: readonly ReplaceableProxy[]): Promise<ReadonlyMap<string, number>> {
  const sum = new Map<string, number>();
  for (const proxy of proxies) {
    for (const [result, count] of await proxy.moves()) sum.set(result, (sum.get(result) ?? 0) + count);
  }
  return sum;
}

/** Writers first: readers look at what writers write. */
async function startWorkload(
  cluster: PatroniCluster,
  proxies: readonly ReplaceableProxy[],
  seed: number,
): Promise<Workload> {
  const { user, password, database, ssl } = cluster.app;
  let applications = 0;
  /** One after the other. */
  const portOf = (pool: keyof ProxyPorts): number => {
    const port = proxies[(applications += 1) % proxies.length]?.ports[pool];
    if (port === undefined) throw new Error('no Pointsman');
    return port;
  };
  const to = (pool: keyof ProxyPorts): Target => ({ port: portOf(pool), user, password, database, ssl });
  const workload = new Workload(seed);
  for (let count = 0; count < 3; count += 1) workload.addWriter(keptClient(to('write')));
  for (let count = 0; count < 2; count += 1) workload.addWriter(clientPerTransaction(to('write')));
  const pool = nodePostgresPool(to('write'), 2);
  for (let count = 0; count < 3; count += 1) workload.addWriter(pool);
  for (let count = 0; count < 2; count += 1) workload.addWriter(postgresJs(to('write')));
  for (const [program, isKept] of [
    ['psycopg2', true],
    ['psycopg2', true],
    ['psql', false],
  ] as const) {
    const application = libpqProgram(program, cluster.app, portOf('write'), isKept);
    if (application !== undefined) workload.addWriter(application);
  }
  for (let count = 0; count < 2; count += 1) workload.addReader(keptClient(to('read')), 'read');
  workload.addReader(nodePostgresPool(to('read'), 2), 'read');
  workload.addReader(clientPerTransaction(to('read')), 'read');
  workload.addReader(postgresJs(to('read')), 'read');
  workload.addReader(keptClient(to('write')), 'write');
  return workload;
}

async function readEnding(
  cluster: PatroniCluster,
  writes: readonly Write[],
  times: Pick<Ending, 'healedAtMs' | 'stoppedAtMs'>,
): Promise<Ending> {
  const { name } = await cluster.leader();
  const wanted = await digest(cluster, name);
  const copies = new Map<string, string>();
  for (const member of cluster.members()) {
    const read = async (): Promise<string> => {
      copies.set(member.name, await digest(cluster, member.name));
      return copies.get(member.name) ?? '';
    };
    // Replicas replay the last writes; one that differs for good is a finding.
    await cluster
      .waitUntil(`${member.name} as ${name}`, async () => (await read()) === wanted, CAUGHT_UP_MS)
      .catch(() => undefined);
  }
  const stored = await storedWrites(cluster, name);
  const { sum, wrong } = await balances(cluster, name);
  const { timeline, forks } = await timelines(cluster, name);
  const writers = await writersOf(cluster, name, timeline);
  const fates = new Map<string, string>();
  for (const transaction of new Set(doubtfulTransactions(writes, { stored, forks }))) {
    // It refuses to tell of an id that its history has not reached.
    const asked = cluster.sql(name, `select pg_xact_status('${transaction}'::xid8) as fate`);
    const [row] = await asked.catch((error: unknown) => [{ fate: String(error) }]);
    fates.set(transaction, String(row?.['fate']));
  }
  return { ...times, stored, sum, wrongBalances: wrong, timeline, writers, forks, copies, fates };
}

async function writersOf(cluster: PatroniCluster, name: string, last: number): Promise<Ending['writers']> {
  const writers = await rowWriters(cluster, name);
  const primary = serverName(cluster.member(name));
  return new Map([...writers, [last, [...new Set([primary, ...(writers.get(last) ?? [])])]]]);
}

/** By the history file of the last primary: `1 <tab> 0/5000148 <tab> no recovery target specified`. */
async function timelines(cluster: PatroniCluster, name: string): Promise<{ timeline: number; forks: readonly Fork[] }> {
  const sql = `select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline`;
  const [row] = await cluster.sql(name, sql, { timeoutMs: LISTED_MS });
  const file = z.object({ timeline: z.string() }).parse(row).timeline;
  const timeline = Number.parseInt(file, 16);
  if (timeline === 1) return { timeline, forks: [] };
  const [read] = await cluster.sql(name, `select pg_read_file('pg_wal/${file}.history') as text`);
  const { text } = z.object({ text: z.string() }).parse(read);
  const forks = [...text.matchAll(/^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/gim)];
  return { timeline, forks: forks.map(([, of, lsn = '']) => ({ timeline: Number(of), lsn })) };
}

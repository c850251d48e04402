// Plays the phases on one real cluster behind one Pointsman: two pools with causal reads, and one without.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from 'pg';
import type { ReadScope } from '../../../src/model/causal-reads.ts';
import { CREATE_REGISTERS, RegisterHistory } from '../../support/applications/register-history.ts';
import { delayReplay } from '../../support/clusters/delayed-replay.ts';
import { questionsRole } from '../../support/clusters/questions-role.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { startPatroniCluster } from '../../support/patroni/start-cluster.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { monotonicMs } from '../../support/waiting/wait.ts';
import { Network } from '../consistency/network.ts';
import { isIsolated } from '../failover/network.ts';
import type { FaultStage } from './faults.ts';
import type { Phase } from './phases.ts';

/** `moving`: `late: primary`. `strict`: `late: error`. `plain`: without causal reads. */
export const POOLS = ['moving', 'strict', 'plain'] as const;
export type HistoryPool = (typeof POOLS)[number];
export const GATED: readonly HistoryPool[] = ['moving', 'strict'];

export interface PhaseRecord {
  readonly phase: Phase;
  readonly tookMs: number;
  readonly writes: number;
  readonly writeErrors: ReadonlyMap<string, number>;
  readonly pools: Readonly<Record<HistoryPool, PoolRecord>>;
  /** Undefined: the fault went as planned, or there is none. */
  readonly note: string | undefined;
}

export interface PoolRecord {
  readonly reads: number;
  readonly checks: number;
  readonly stale: readonly string[];
  readonly lost: number;
  readonly errors: ReadonlyMap<string, number>;
}

export interface HistoryOptions {
  readonly phases: readonly Phase[];
  /** Gated ones, over all phases. */
  readonly reads: number;
  /** In each gated pool. */
  readonly readers: number;
  readonly workers: number;
  /** The gated pools have it. */
  readonly scope: ReadScope;
  readonly tell: (line: string) => void;
  readonly played: (record: PhaseRecord) => void;
}

const PLAIN_READERS = 8;
const PHASE_MS = 600_000;
const TOLD_EVERY_MS = 15_000;
/** The replica that lacks the last of it must be allowed to lead. */
const MOST_BEHIND_BYTES = 2 ** 26;

export async function playHistory(options: HistoryOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-reads-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  options.tell('starting the cluster');
  const cluster = await startPatroniCluster({
    hostGroups: isIsolated(),
    maximumLagOnFailoverBytes: MOST_BEHIND_BYTES,
    parameters: { max_connections: 400 },
  });
  try {
    await cluster.sql((await cluster.leader()).name, CREATE_REGISTERS, { as: cluster.app });
    await prepareDatabase(cluster);
    const network = isIsolated() ? await Network.open(cluster.members()) : undefined;
    const pointsman = await startPointsman(configFor(cluster, await sections(cluster, directory, options)));
    try {
      await pointsman.waitUntilReady();
      for (const phase of options.phases)
        options.played(await playPhase({ cluster, pointsman, network }, phase, options));
    } finally {
      await pointsman.stop();
    }
  } finally {
    await cluster.destroy();
  }
}

async function sections(cluster: PatroniCluster, directory: string, { workers, scope }: HistoryOptions) {
  const gated = (late: string) => ({ check: '/replica', causal_reads: { scope, wait: '2s', late }, slow_start: 0 });
  return {
    workers,
    client: { tls: { mode: 'terminate', ...SERVER } },
    questions: await questionsRole(cluster, directory),
    pools: {
      write: { check: '/primary' },
      moving: { ...gated('primary'), fallback: { pool: 'write' } },
      strict: gated('error'),
      plain: { check: '/replica', slow_start: 0 },
    },
    listeners: ['write', ...POOLS].map((pool) => ({ address: '127.0.0.1:0', pool })),
    log: { level: 'info', format: 'json' },
    ...movesConfig(cluster, directory, { mode: 'always' }),
  };
}

async function playPhase(stage: FaultStage, phase: Phase, options: HistoryOptions): Promise<PhaseRecord> {
  const { cluster, pointsman } = stage;
  const { phases, readers, tell } = options;
  tell(phase.name);
  await cluster.waitUntilHealthy();
  await delayReplay(cluster, phase.delayMs);
  const group = async (pool: HistoryPool) => ({
    config: await clientOf(stage, pool),
    readers: pool === 'plain' ? PLAIN_READERS : readers,
  });
  const [moving, strict, plain] = await Promise.all([group('moving'), group('strict'), group('plain')]);
  const fromMs = monotonicMs();
  const history = new RegisterHistory({
    ...phase,
    write: await clientOf(stage, 'write'),
    readers: { moving, strict, plain },
  });
  const gated = (): number => GATED.reduce((sum, pool) => sum + history.sights(pool).reads, 0);
  const until = (what: string, reads: number) => pointsman.waitFor(what, toldNow(tell, gated, reads), PHASE_MS);
  const wanted = options.reads / phases.length;
  let note: string | undefined;
  try {
    await until('the first reads', Math.min(wanted, readers));
    note = await play(stage, phase);
    await until('all reads', Math.max(wanted, gated() + readers));
  } finally {
    await history.stop();
  }
  const { writes, writeErrors } = history;
  const [first, second, third] = POOLS.map((pool) => history.sights(pool));
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are three pools');
  const pools = { moving: first, strict: second, plain: third };
  return { phase, tookMs: monotonicMs() - fromMs, writes, writeErrors, pools, note };
}

/** Returns what did not go as planned. The cluster is whole again. */
async function play(stage: FaultStage, { fault }: Phase): Promise<string | undefined> {
  if (fault === undefined) return undefined;
  if (fault.needsNetwork === true && stage.network === undefined) return 'left out: no network of its own';
  try {
    await fault.play(stage);
    return undefined;
  } catch (error) {
    return String(error).split('\n', 1)[0];
  } finally {
    await mend(stage);
  }
}

async function mend({ cluster }: FaultStage): Promise<void> {
  for (const { name } of cluster.members()) if (!cluster.isRunning(name)) await cluster.launch(name);
  await cluster.waitUntilHealthy();
}

function toldNow(tell: (line: string) => void, gated: () => number, wanted: number): () => boolean {
  let nextMs = monotonicMs() + TOLD_EVERY_MS;
  return () => {
    if (monotonicMs() >= nextMs) {
      nextMs += TOLD_EVERY_MS;
      tell(`  ${gated()} of ${Math.ceil(wanted)} reads`);
    }
    return gated() >= wanted;
  };
}

async function clientOf({ cluster, pointsman }: FaultStage, pool: string): Promise<ClientConfig> {
  return { host: '127.0.0.1', port: await pointsman.port(pool), ...cluster.app };
}

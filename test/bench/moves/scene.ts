// One planned switchover, seen by idle sessions, by applications that repeat their transactions and by pgbench, through
// every peer at the same time.
import { setTimeout as delay } from 'node:timers/promises';
import { Fleet, type FleetVerdict } from '../../support/moves/fleet.ts';
import { type PgbenchMode, type PgbenchResult, startPgbench } from '../../support/moves/pgbench.ts';
import { type KnownProgram, programs, type ProgramTarget } from '../../support/moves/programs.ts';
import {
  judgeLedger,
  type LedgerFigures,
  repeatingDrivers,
  RetryingClients,
  type RetryFigures,
} from '../../support/moves/retrying-clients.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { Command } from '../../support/processes/command.ts';
import type { MovesPeer, Peers } from './peers.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

export const MODES: readonly PgbenchMode[] = ['simple', 'extended', 'prepared'];
const SETTLE_MS = 90_000;
const EACH_MS = 200;
/** A load that stores as many more works. */
const MORE_ROWS = 50;
/** The driver that can take every peer's address. */
const DRIVER = 'psycopg2';
/** Transactions of each client that repeats short ones. */
const MORE_TRANSACTIONS = 3;

export interface LoadFigures extends PgbenchResult {
  readonly mode: PgbenchMode;
  readonly clients: number;
  readonly stored: number;
}

export interface PeerFigures {
  readonly peer: string;
  readonly idle: FleetVerdict;
  readonly loads: readonly LoadFigures[];
  readonly repeating: RetryFigures & LedgerFigures & { readonly stuck: number };
}

export interface SceneOptions {
  readonly round: number;
  readonly idle: number;
  readonly clients: number;
  /** Those whose clients repeat transactions. Undefined: all. */
  readonly drivers: ReadonlySet<string> | undefined;
  readonly directory: string;
}

export async function playSwitchover(
  cluster: PatroniCluster,
  peers: Peers,
  options: SceneOptions,
): Promise<readonly PeerFigures[]> {
  await cluster.waitUntilHealthy();
  const leader = await cluster.leader();
  const replicas = cluster.members().filter(({ name }) => name !== leader.name);
  for (const peer of peers.all) {
    await cluster.waitUntil(`${peer.name} settled`, () => peer.isSettled(leader, replicas), SETTLE_MS);
  }
  const driver = programs().find(({ name }) => name === DRIVER);
  if (driver?.missing !== undefined || driver === undefined) throw new Error(`missing: ${driver?.missing ?? DRIVER}`);
  const fleets: Fleet[] = [];
  const applications: RetryingClients[] = [];
  try {
    for (const { target } of peers.all) {
      fleets.push(await Fleet.open([driver], options.idle, options.directory, target));
    }
    for (const peer of peers.all) {
      const name = sourceOf(peer, 'repeating', options);
      applications.push(
        RetryingClients.start(await driversFor(peer.target, options), name, options.directory, peer.target),
      );
    }
    const areWorking = async (): Promise<boolean> => applications.every((one) => one.areWorking());
    await cluster.waitUntil('a transaction of each client', areWorking, SETTLE_MS);
    const loads = peers.all.map((peer) => MODES.map((mode) => load(peer, mode, options)));
    await untilEachHasMore(cluster, loads.flat());
    await switchOver(cluster, peers);
    // Each load that lives shows that it works again.
    await untilEachHasMore(cluster, loads.flat());
    const stuck = await stuckClients(applications);
    const results = await Promise.all(loads.map((some) => Promise.all(some.map((one) => one.finish()))));
    const figures: PeerFigures[] = [];
    const repeated = await Promise.all(applications.map((one) => one.finish()));
    for (const [at, peer] of peers.all.entries()) {
      const { name } = peer;
      const [idle] = (await fleets[at]?.judge()) ?? [];
      if (idle === undefined) throw new Error(`${name}: no idle sessions`);
      const counted = (results[at] ?? []).map(async (result) => ({ ...result, stored: await stored(cluster, result) }));
      const retries = repeated[at];
      if (retries === undefined) throw new Error(`${name}: no applications`);
      const ledger = await judgeLedger(cluster, sourceOf(peer, 'repeating', options), retries);
      figures.push({
        peer: name,
        idle,
        loads: await Promise.all(counted),
        repeating: { ...retries, ...ledger, stuck: stuck[at] ?? 0 },
      });
    }
    return figures;
  } finally {
    await Promise.all([...fleets, ...applications].map((one) => one.stop()));
  }
}

/** For each peer, its clients of short transactions that do not go on. */
async function stuckClients(applications: readonly RetryingClients[]): Promise<readonly number[]> {
  const before = applications.map((one) => one.counts());
  const stuck = (): readonly number[] =>
    applications.map((one, at) => one.behind(before[at] ?? new Map(), MORE_TRANSACTIONS).length);
  const until = Date.now() + SETTLE_MS;
  while (stuck().some((count) => count > 0) && Date.now() < until) await delay(EACH_MS);
  return stuck();
}

/** With its own numbers of the round. */
function sourceOf({ name }: MovesPeer, what: string, { round }: SceneOptions): string {
  return `${name} ${what} ${round}`.replaceAll(/[^\w]+/g, '-');
}

/** libpq alone takes a list of hosts. */
async function driversFor(
  { host }: ProgramTarget,
  { directory, drivers }: SceneOptions,
): Promise<readonly KnownProgram[]> {
  const known = repeatingDrivers().filter(({ name }) =>
    host === undefined ? drivers === undefined || drivers.has(name) : name === DRIVER,
  );
  const missing = known.flatMap(({ missing: one }) => one ?? []);
  if (missing.length > 0) throw new Error(`missing: ${missing.join('; ')}`);
  for (const program of known) await program.prepare(directory);
  return known;
}

type Load = PgbenchResult & { readonly mode: PgbenchMode; readonly clients: number; readonly source: string };

interface RunningLoad {
  readonly source: string;
  /** All its clients have ended. */
  readonly hasEnded: () => boolean;
  readonly finish: () => Promise<Load>;
}

function load(peer: MovesPeer, mode: PgbenchMode, options: SceneOptions): RunningLoad {
  const { clients, directory } = options;
  const source = sourceOf(peer, mode, options);
  const bench = startPgbench(peer.target, { mode, clients, directory, source });
  const end = (): void => void (hasEnded = true);
  let hasEnded = false;
  bench.result.then(end, end);
  return {
    source,
    hasEnded: () => hasEnded,
    async finish() {
      const result = await bench.finish().catch(
        // It could not even begin.
        (error: unknown) => ({ acknowledged: 0, errors: [String(error)], longestMs: 0 }),
      );
      return { ...result, mode, clients, source };
    },
  };
}

/** Each load that has clients stores more rows than it has now. */
async function untilEachHasMore(cluster: PatroniCluster, loads: readonly RunningLoad[]): Promise<void> {
  const before = await rows(cluster);
  const hasMore = async (): Promise<boolean> => {
    const now = await rows(cluster);
    return loads.every(({ source, hasEnded }) => {
      return hasEnded() || (now.get(source) ?? 0) >= (before.get(source) ?? 0) + MORE_ROWS;
    });
  };
  await cluster.waitUntil('the loads', hasMore, SETTLE_MS);
}

async function rows(cluster: PatroniCluster): Promise<ReadonlyMap<string, number>> {
  const { name } = await cluster.leader();
  const counted = await cluster.sql(name, 'select source, count(*)::int as n from loaded group by source', {
    timeoutMs: SETTLE_MS,
  });
  return new Map(counted.map(({ source, n }) => [String(source), Number(n)]));
}

async function switchOver(cluster: PatroniCluster, { moving, all }: Peers): Promise<void> {
  const admin = `127.0.0.1:${await moving.port('admin')}`;
  const command = new Command(['switchover', '--admin', admin, '--transaction-timeout', '5s', '--yes'], {
    POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  // The operator of another peer waits for the start of the command, too.
  let hasEnded = false;
  void command.code.then(() => (hasEnded = true));
  const hasPlan = async (): Promise<boolean> => hasEnded || command.output.includes('will wait');
  await cluster.waitUntil('the plan', hasPlan, SETTLE_MS);
  await Promise.all(all.map((peer) => peer.before()));
  const code = await command.code;
  await Promise.all(all.map((peer) => peer.after()));
  console.error(command.output);
  if (code !== 0) throw new Error(`pointsman switchover ended with ${code}: ${command.output}`);
}

async function stored(cluster: PatroniCluster, { source }: Load): Promise<number> {
  return (await rows(cluster)).get(source) ?? 0;
}

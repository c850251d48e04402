// One planned switchover, seen by idle sessions and by pgbench through every peer at the same time.
import { Fleet, type FleetVerdict } from '../../support/moves/fleet.ts';
import { type PgbenchMode, type PgbenchResult, startPgbench } from '../../support/moves/pgbench.ts';
import { programs } from '../../support/moves/programs.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { Command } from '../../support/processes/command.ts';
import type { MovesPeer, Peers } from './peers.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

export const MODES: readonly PgbenchMode[] = ['simple', 'extended', 'prepared'];
const SETTLE_MS = 90_000;
/** A load that stores as many more works. */
const MORE_ROWS = 50;
/** The driver that can take every peer's address. */
const DRIVER = 'psycopg2';

export interface LoadFigures extends PgbenchResult {
  readonly mode: PgbenchMode;
  readonly clients: number;
  readonly stored: number;
}

export interface PeerFigures {
  readonly peer: string;
  readonly idle: FleetVerdict;
  readonly loads: readonly LoadFigures[];
}

export interface SceneOptions {
  readonly round: number;
  readonly idle: number;
  readonly clients: number;
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
  try {
    for (const { target } of peers.all) {
      fleets.push(await Fleet.open([driver], options.idle, options.directory, target));
    }
    const loads = peers.all.map((peer) => MODES.map((mode) => load(peer, mode, options)));
    await untilEachHasMore(cluster, loads.flat());
    await switchOver(cluster, peers);
    // Each load that lives shows that it works again.
    await untilEachHasMore(cluster, loads.flat());
    const results = await Promise.all(loads.map((some) => Promise.all(some.map((one) => one.finish()))));
    const figures: PeerFigures[] = [];
    for (const [at, { name }] of peers.all.entries()) {
      const [idle] = (await fleets[at]?.judge()) ?? [];
      if (idle === undefined) throw new Error(`${name}: no idle sessions`);
      const counted = (results[at] ?? []).map(async (result) => ({ ...result, stored: await stored(cluster, result) }));
      figures.push({ peer: name, idle, loads: await Promise.all(counted) });
    }
    return figures;
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.stop()));
  }
}

type Load = PgbenchResult & { readonly mode: PgbenchMode; readonly clients: number; readonly source: string };

interface RunningLoad {
  readonly source: string;
  /** All its clients have ended. */
  readonly hasEnded: () => boolean;
  readonly finish: () => Promise<Load>;
}

function load(peer: MovesPeer, mode: PgbenchMode, options: SceneOptions): RunningLoad {
  const { round, clients, directory } = options;
  const source = `${peer.name} ${mode} ${round}`.replaceAll(/[^\w]+/g, '-');
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
  const command = new Command(['switchover', '--admin', admin, '--yes'], { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
  // The operator of another peer waits for the start of the command, too.
  const hasPlan = async (): Promise<boolean> => command.output.includes('will wait');
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

// One planned switchover, seen by idle sessions and by pgbench through every peer at the same time.
import { Fleet, type FleetVerdict } from '../../support/moves/fleet.ts';
import { type PgbenchMode, type PgbenchResult, startPgbench } from '../../support/moves/pgbench.ts';
import { TOKEN } from '../../support/moves/prepared-database.ts';
import { programs } from '../../support/moves/programs.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { Command } from '../../support/processes/command.ts';
import type { MovesPeer, Peers } from './peers.ts';

/** PgBouncer before 1.21 cannot do prepared statements in transaction mode. */
export const MODES: readonly PgbenchMode[] = ['simple', 'extended', 'prepared'];
const SETTLE_MS = 90_000;
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
    for (const { target } of peers.all)
      fleets.push(await Fleet.open([driver], options.idle, options.directory, target));
    const loads = peers.all.map((peer) => MODES.map((mode) => load(peer, mode, options)));
    await busy(cluster, leader.name, options.clients);
    await Promise.all(peers.all.map((peer) => peer.before()));
    await switchOver(peers);
    await Promise.all(peers.all.map((peer) => peer.after()));
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

function load(peer: MovesPeer, mode: PgbenchMode, options: SceneOptions): { readonly finish: () => Promise<Load> } {
  const { round, clients, directory } = options;
  const source = `${peer.name} ${mode} ${round}`.replaceAll(/[^\w]+/g, '-');
  const bench = startPgbench(peer.target, { mode, clients, directory, source });
  return {
    async finish() {
      const result = await bench.finish().catch(
        // It could not even begin.
        (error: unknown) => ({ acknowledged: 0, errors: [String(error)], longestMs: 0 }),
      );
      return { ...result, mode, clients, source };
    },
  };
}

/** At least some clients of pgbench work. */
async function busy(cluster: PatroniCluster, leader: string, clients: number): Promise<void> {
  const question = `select count(*)::int as n from pg_stat_activity where application_name = 'pgbench'`;
  const isBusy = async (): Promise<boolean> => Number((await cluster.sql(leader, question))[0]?.['n']) >= 2 * clients;
  await cluster.waitUntil('the load', isBusy, 30_000);
}

async function switchOver({ moving }: Peers): Promise<void> {
  const admin = `127.0.0.1:${await moving.port('admin')}`;
  const command = new Command(['switchover', '--admin', admin, '--yes'], { POINTSMAN_ADMIN_TOKEN: TOKEN });
  const code = await command.code;
  console.error(command.output);
  if (code !== 0) throw new Error(`pointsman switchover ended with ${code}: ${command.output}`);
}

async function stored(cluster: PatroniCluster, { source }: Load): Promise<number> {
  const { name } = await cluster.leader();
  const [row] = await cluster.sql(name, `select count(*)::int as n from loaded where source = '${source}'`);
  return Number(row?.['n']);
}

// The ways to the primary that the benchmark of moves compares, each with an address for clients.
import type { Installation } from '../../support/patroni/availability.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { membersOf } from '../../support/clusters/pool-members.ts';
import { movesConfig } from '../../support/moves/prepared-database.ts';
import type { ProgramTarget } from '../../support/moves/programs.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../../support/processes/pointsman-process.ts';
import { TUNED } from '../failover/haproxy-config.ts';
import { runHaproxy } from '../failover/haproxy.ts';
import { runPgbouncer } from './pgbouncer.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

const MOST_SESSIONS = 500;

export interface MovesPeer {
  readonly name: string;
  readonly target: ProgramTarget;
  /** Whether it routes to this primary. */
  isSettled(leader: MemberAddress, replicas: readonly MemberAddress[]): Promise<boolean>;
  /** The operator's part, before and after a switchover. */
  before(): Promise<void>;
  after(): Promise<void>;
  stop(): Promise<void>;
}

export interface Peers {
  readonly all: readonly MovesPeer[];
  /** The one that moves sessions; the switchover goes through it. */
  readonly moving: PointsmanProcess;
}

const nothing = async (): Promise<void> => undefined;

/** `directory`: for the file with the password of the lookup role. Ends what it started when one of them fails. */
export async function startPeers(
  cluster: PatroniCluster,
  installation: Installation,
  directory: string,
): Promise<Peers> {
  const all: MovesPeer[] = [];
  const on = (port: number): ProgramTarget => ({ port, as: cluster.app, sslmode: 'disable' });
  try {
    const haproxy = await runHaproxy('HAProxy', TUNED, cluster, installation, MOST_SESSIONS);
    const { isSettled } = haproxy;
    const plain = { isSettled, before: nothing, after: nothing };
    all.push({ ...plain, name: 'HAProxy, tuned', target: on(haproxy.ports.write), stop: () => haproxy.stop() });
    all.push({ ...plain, name: 'libpq multi-host', target: everyMember(cluster), stop: nothing });
    for (const isPaused of [false, true]) {
      const bouncer = await runPgbouncer(haproxy.ports.write, cluster.app);
      all.push({
        ...plain,
        name: isPaused ? 'PgBouncer, with PAUSE' : 'PgBouncer',
        target: on(bouncer.port),
        before: () => (isPaused ? bouncer.command('PAUSE') : nothing()),
        after: () => (isPaused ? bouncer.command('RESUME') : nothing()),
        stop: () => bouncer.stop(),
      });
    }
    const admin = { address: '127.0.0.1:0', token: ADMIN_TOKEN };
    const without = await aPointsman('Pointsman', cluster, { admin });
    all.push(without.peer);
    const moves = movesConfig(cluster, directory, { on_stays: 'abort', wait: '5s' });
    const moving = await aPointsman('Pointsman, with moves', cluster, moves);
    all.push(moving.peer);
    return { all, moving: moving.process };
  } catch (error) {
    await Promise.all(all.map((peer) => peer.stop()));
    throw error;
  }

  async function aPointsman(name: string, before: PatroniCluster, sections: Readonly<Record<string, unknown>>) {
    const log = { level: 'info', format: 'json' };
    const process = await startPointsman(configFor(before, { log, ...sections }));
    await process.waitUntilReady();
    const isSettled = async (leader: MemberAddress): Promise<boolean> => {
      const members = await membersOf({ cluster: before, pointsman: process }, 'write');
      return members.length === 1 && members[0]?.name === leader.name;
    };
    const target = on(await process.port('write'));
    const peer = { name, target, isSettled, before: nothing, after: nothing, stop: () => process.stop() };
    return { process, peer };
  }
}

/** libpq takes one port for all. */
function everyMember(cluster: PatroniCluster): ProgramTarget {
  const members = cluster.members();
  const host = members.map((member) => member.host).join(',');
  return { host, port: members[0]?.port ?? 0, as: cluster.app, sslmode: 'disable' };
}

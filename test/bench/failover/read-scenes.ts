// The scenes of readers: a replica with dropped packets, a replica that stops replaying, and the end of a fallback.
// Some readers keep their session, others connect for each read, through every proxy at the same time.
import { setTimeout as delay } from 'node:timers/promises';
import { serverName } from '../../support/clusters/server-name.ts';
import { monotonicMs } from '../../support/waiting/wait.ts';
import { SteadyReaders } from '../../support/applications/steady-readers.ts';
import { dropPacketsOf } from '../../support/processes/own-network.ts';
import { writeWal } from '../../support/clusters/write-wal.ts';
import type { Lab } from './lab.ts';

/** The figures of one peer in one scene; milliseconds. */
export interface ReadFigures {
  readonly pooledMs: number;
  readonly reconnectingMs: number;
}

export type ReadScene = (lab: Lab) => Promise<ReadonlyMap<string, ReadFigures>>;

interface Readers {
  readonly peer: string;
  readonly pooled: SteadyReaders;
  readonly reconnecting: SteadyReaders;
}

const [POOLED, RECONNECTING] = [4, 2];
const MORE_THAN_THE_BOUND_MB = 32;
/** The duration of each scene. */
const SILENT_FOR_MS = 25_000;
const LAGGING_FOR_MS = 25_000;
const BACK_FOR_MS = 40_000;
/** The limit for the wait until readers are on every replica. */
const SPREAD_MS = 60_000;

/** The longest time without a read. */
export const replicaVanishes: ReadScene = async (lab) => {
  const { replicas } = await lab.settled();
  return withReaders(lab, async (all) => {
    const gone = await aBusyReplica(lab, all, replicas.map(serverName));
    const host = gone.slice(0, gone.lastIndexOf(':'));
    const faultAtMs = monotonicMs();
    const heal = await dropPacketsOf(host);
    try {
      await delay(SILENT_FOR_MS);
      return figures(all, (readers) => readers.longestGapMs(faultAtMs));
    } finally {
      await heal();
    }
  });
};

/** The replica's last read after the fault; Infinity: it still answers; NaN: it answered no read. */
export const replicaStopsReplaying: ReadScene = async (lab) => {
  const { replicas } = await lab.settled();
  return withReaders(lab, async (all) => {
    const server = await aBusyReplica(lab, all, replicas.map(serverName));
    const name = replicas.find((replica) => serverName(replica) === server)?.name ?? '';
    await lab.cluster.lagReplica(name);
    const faultAtMs = monotonicMs();
    try {
      await writeWal(lab.cluster, MORE_THAN_THE_BOUND_MB);
      await delay(LAGGING_FOR_MS);
      return figures(all, (readers) => lastRead(readers, server, faultAtMs));
    } finally {
      await lab.cluster.unlagReplica(name);
    }
  });
};

/** The primary's last read after the return of a replica; NaN: it answered none, because the peer has no fallback. */
export const fallbackEnds: ReadScene = async (lab) => {
  const { leader, replicas } = await lab.settled();
  const primary = serverName(leader);
  return withReaders(lab, async (all) => {
    for (const { name } of replicas) await lab.cluster.kill(name);
    try {
      await delay(BACK_FOR_MS / 4);
      const [first, ...others] = replicas;
      if (first === undefined) throw new Error('no replica');
      await lab.cluster.start(first.name);
      const backAtMs = monotonicMs();
      for (const { name } of others) await lab.cluster.start(name);
      await delay(BACK_FOR_MS);
      return figures(all, (readers) => lastRead(readers, primary, backAtMs));
    } finally {
      await lab.cluster.waitUntilHealthy();
    }
  });
};

function lastRead(readers: SteadyReaders, server: string, sinceMs: number): number {
  const atMs = readers.lastReadOnMs(server);
  if (atMs === -Infinity) return Number.NaN;
  return monotonicMs() - atMs < 1000 ? Infinity : Math.max(0, atMs - sinceMs);
}

async function withReaders(
  lab: Lab,
  play: (all: readonly Readers[]) => Promise<ReadonlyMap<string, ReadFigures>>,
): Promise<ReadonlyMap<string, ReadFigures>> {
  const all = lab.peers.flatMap(({ name: peer, readPort: port }): Readers[] => {
    if (port === undefined) return [];
    const as = { ...lab.cluster.app, port };
    const pooled = new SteadyReaders('pooled', POOLED, as);
    return [{ peer, pooled, reconnecting: new SteadyReaders('reconnecting', RECONNECTING, as) }];
  });
  try {
    return await play(all);
  } finally {
    await Promise.all(all.flatMap(({ pooled, reconnecting }) => [pooled.stop(), reconnecting.stop()]));
  }
}

/** A replica that serves both kinds of readers of every peer. */
async function aBusyReplica(lab: Lab, all: readonly Readers[], replicas: readonly string[]): Promise<string> {
  const served = async (): Promise<string | undefined> =>
    replicas.find((server) =>
      all.every(
        ({ pooled, reconnecting }) =>
          pooled.servers().includes(server) && reconnecting.lastReadOnMs(server) !== -Infinity,
      ),
    );
  return lab.cluster.waitUntil('readers of every peer on one replica', served, SPREAD_MS);
}

function figures(
  all: readonly Readers[],
  figureOf: (readers: SteadyReaders) => number,
): ReadonlyMap<string, ReadFigures> {
  return new Map(
    all.map(({ peer, pooled, reconnecting }) => [
      peer,
      { pooledMs: figureOf(pooled), reconnectingMs: figureOf(reconnecting) },
    ]),
  );
}

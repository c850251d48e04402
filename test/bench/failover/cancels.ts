// Long queries on the read side, with two replicas, and their cancels.
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../support/waiting/wait.ts';
import type { Lab } from './lab.ts';
import { LONG_QUERY, type LongQuery, type Peer } from './peer.ts';

const CANCELED = '57014';
const WORKED_WITHIN_MS = 1000;
const ALL_RUN_WITHIN_MS = 30_000;

/** The number of queries, of the given number, that were cancelled; by the peer's name. */
export async function cancelQueries(lab: Lab, queries: number): Promise<ReadonlyMap<string, number>> {
  const figures = new Map<string, number>();
  for (const peer of lab.peers) figures.set(peer.name, await cancelThrough(lab, peer, queries));
  return figures;
}

async function cancelThrough(lab: Lab, peer: Peer, queries: number): Promise<number> {
  const { replicas } = await lab.settled();
  const running: LongQuery[] = [];
  try {
    for (let opened = 0; opened < queries; opened += 1) running.push(await peer.longQuery());
    const count = `select count(*)::int as count from pg_stat_activity
      where state = 'active' and query = '${LONG_QUERY}'`;
    const allRun = async (): Promise<boolean> => {
      const rows = await Promise.all(replicas.map(({ name }) => lab.cluster.sql(name, count)));
      return rows.reduce((total, [row]) => total + Number(row?.['count']), 0) === queries;
    };
    await lab.cluster.waitUntil(`${queries} queries run through ${peer.name}`, allRun, ALL_RUN_WITHIN_MS);
    let worked = 0;
    for (const index of outOfStep(queries)) {
      const query = running[index];
      if (query === undefined) continue;
      await query.cancel();
      if (await endsCancelled(query)) worked += 1;
    }
    return worked;
  } finally {
    await Promise.all(running.map((query) => query.close()));
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where query = '${LONG_QUERY}'`;
    await Promise.all(replicas.map(({ name }) => lab.cluster.sql(name, end)));
  }
}

/**
 * Swaps every second pair. In the order of the queries a strict round robin over two servers would send all cancels to
 * the right server or none; with the swaps it is half of them, the average.
 */
function outOfStep(count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => (place % 4 < 2 ? place : place ^ 1));
}

async function endsCancelled(query: LongQuery): Promise<boolean> {
  const deadline = monotonicMs() + WORKED_WITHIN_MS;
  while (query.endedWith === undefined && monotonicMs() < deadline) await delay(5);
  return query.endedWith === CANCELED;
}

// Brings a cluster up as fast as Patroni allows: the first member initialises it, the others import their
// Python meanwhile and copy it as soon as there is a leader.
import { PatroniCluster } from './cluster.ts';
import { APP, type ClusterOptions, SUPERUSER } from './settings.ts';
import { prepareSite } from './site.ts';

const START_TIMEOUT_MS = 60_000;

/** Healthy when it returns: pg-1 leads, the others stream from it, the app database exists. */
export async function startPatroniCluster(options: ClusterOptions = {}): Promise<PatroniCluster> {
  const memberCount = options.members ?? 3;
  const site = await prepareSite(options, memberCount);
  const cluster = new PatroniCluster(site);
  try {
    await cluster.startEtcd();
    const names = Array.from({ length: memberCount }, (_, index) => `pg-${index + 1}`);
    for (const name of names) await cluster.defineMember(name);
    const [first, ...others] = names;
    if (first === undefined) throw new Error('a cluster needs a member');
    await cluster.launch(first);
    await cluster.waitUntilInitializing(START_TIMEOUT_MS);
    for (const name of others) await cluster.launch(name);
    await cluster.leader(START_TIMEOUT_MS);
    await createAppDatabase(cluster, first);
    await cluster.waitUntilHealthy(START_TIMEOUT_MS);
    return cluster;
  } catch (error) {
    await cluster.destroy();
    throw error;
  }
}

async function createAppDatabase(cluster: PatroniCluster, leader: string): Promise<void> {
  await cluster.sql(leader, `create role ${APP.user} login password '${APP.password}'`, { as: SUPERUSER });
  await cluster.sql(leader, `create database ${APP.database} owner ${APP.user}`, { as: SUPERUSER, timeoutMs: 20_000 });
  const table = `create table direct_writes (
    id bigint generated always as identity primary key, member text not null, at timestamptz not null default now())`;
  await cluster.sql(leader, table, { as: APP });
}

// Brings a cluster up as fast as Patroni allows: the first member initialises it, the others import their
// Python meanwhile and copy it as soon as there is a leader.
import { PatroniCluster } from './cluster.ts';
import { CREATE_DIRECT_WRITES } from './floor.ts';
import { ask } from './http.ts';
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
    if (options.failsafeMode === true) await waitForFailsafeMaps(cluster);
    return cluster;
  } catch (error) {
    await cluster.destroy();
    throw error;
  }
}

async function createAppDatabase(cluster: PatroniCluster, leader: string): Promise<void> {
  await cluster.sql(leader, `create role ${APP.user} login password '${APP.password}'`, { as: SUPERUSER });
  await cluster.sql(leader, `create database ${APP.database} owner ${APP.user}`, { as: SUPERUSER, timeoutMs: 20_000 });
  await cluster.sql(leader, CREATE_DIRECT_WRITES, { as: APP });
}

/** A member that does not know the others yet does not give its consent, and the leader demotes itself without it. */
async function waitForFailsafeMaps(cluster: PatroniCluster): Promise<void> {
  const maps = () => Promise.all(cluster.members().map(({ api }) => ask(`${api}/failsafe`)));
  const areThere = async () => (await maps()).every((answer) => answer?.status === 200);
  await cluster.waitUntil('failsafe map on every member', areThere, 10_000);
}

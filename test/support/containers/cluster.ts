// Three members with real Patroni and an etcd, each in a container of its own on the lab's network. Each verb waits for
// its effect.
import { setTimeout as delay } from 'node:timers/promises';
import { CREATE_WRITES } from '../applications/connect-load.ts';
import { ask } from '../patroni/http.ts';
import type { MemberAddress } from '../patroni/member.ts';
import { patroniYml } from '../patroni/patroni-config.ts';
import { APP, dynamicConfig } from '../patroni/settings.ts';
import { runSql } from '../patroni/sql.ts';
import { waitUntil } from '../waiting/wait.ts';
import type { RunningContainer } from './container.ts';
import type { ContainerLab } from './lab.ts';

const NAMES = ['pg-1', 'pg-2', 'pg-3'] as const;
const API_PORT = 8008;
const PORT = 5432;
const HOME = '/srv/member';
/** A death is noticed when the leader's key has run out, and a slow machine elects slowly. */
const TIMEOUT_MS = 90_000;

export interface ClusterInContainers {
  readonly scope: string;
  /** The URLs of the members' API, as the containers of the network reach it. */
  readonly seeds: readonly string[];
  readonly members: readonly RunningContainer[];
  /** The member that answers 200 to /primary. */
  readonly primary: () => Promise<RunningContainer>;
  /** Until the primary takes writes and every other member that runs streams from it. */
  readonly waitUntilHealthy: () => Promise<void>;
  /** To another member; resolves with its name. */
  readonly switchover: () => Promise<RunningContainer>;
  /** The address of one member, as this machine reaches it past Pointsman. */
  readonly address: (member: RunningContainer) => MemberAddress;
  /** The last words of the members, for failure messages. */
  readonly explain: () => Promise<string>;
}

export async function startClusterInContainers(lab: ContainerLab): Promise<ClusterInContainers> {
  const scope = 'contained';
  await lab.start({ image: lab.clusterImage, name: 'etcd', command: ETCD });
  const start = async (name: string): Promise<RunningContainer> =>
    lab.start({
      image: lab.clusterImage,
      name,
      command: ['patroni', '/etc/patroni.yml'],
      ports: [API_PORT, PORT],
      files: { '/etc/patroni.yml': await lab.file(`${name}.yml`, configOf(scope, name)) },
      // Patroni as process 1 looks after orphans too, and once in a while it never gets beyond its bootstrap then.
      init: true,
    });
  const [first, ...others] = NAMES;
  const leader = await start(first);
  await clusterOf(scope, [leader]).waitUntilHealthy();
  const members = [leader, ...(await Promise.all(others.map(start)))];
  const cluster = clusterOf(scope, members);
  await cluster.waitUntilHealthy();
  const primary = address(await cluster.primary());
  await runSql(primary, `create role ${APP.user} login password '${APP.password}'`);
  await runSql(primary, `create database ${APP.database} owner ${APP.user}`, { timeoutMs: 20_000 });
  await runSql(primary, CREATE_WRITES, { as: APP });
  return cluster;
}

const ETCD = [
  'etcd',
  '--data-dir=/srv/etcd/data',
  '--listen-client-urls=http://0.0.0.0:2379',
  '--advertise-client-urls=http://etcd:2379',
];

function configOf(scope: string, name: string): string {
  return patroniYml({
    scope,
    name,
    host: name,
    listenHost: '0.0.0.0',
    clients: 'all',
    apiPort: API_PORT,
    port: PORT,
    etcd: 'etcd:2379',
    home: HOME,
    dataDir: `${HOME}/data`,
    postgresBinDir: '/usr/lib/postgresql/15/bin',
    dynamic: dynamicConfig({}),
    callbacks: {},
    tags: {},
  });
}

function api(member: RunningContainer): string {
  return `http://127.0.0.1:${member.port(API_PORT)}`;
}

function address(member: RunningContainer): MemberAddress {
  return { name: member.name, api: api(member), host: '127.0.0.1', port: member.port(PORT) };
}

function clusterOf(scope: string, members: readonly RunningContainer[]): ClusterInContainers {
  const explain = async (): Promise<string> => {
    const logs = await Promise.all(members.map((member) => member.logs()));
    return logs.map(({ stderr, stdout }, i) => `${members[i]?.name}: ${(stdout + stderr).slice(-1500)}`).join('\n');
  };
  const wait = <T>(what: string, question: () => Promise<T | undefined | false>): Promise<T> =>
    waitUntil(what, question, { timeoutMs: TIMEOUT_MS, everyMs: 100, explain });
  const running = async (): Promise<readonly RunningContainer[]> => {
    const states = await Promise.all(members.map((member) => member.inspect()));
    return members.filter((_, i) => states[i]?.State.Running === true);
  };
  const findPrimary = async (): Promise<RunningContainer | undefined> => {
    const up = await running();
    const answers = await Promise.all(up.map((member) => ask(`${api(member)}/primary`)));
    return up.find((_, i) => answers[i]?.status === 200);
  };
  const isHealthy = async (): Promise<boolean> => {
    const primary = await findPrimary();
    if (primary === undefined) return false;
    const rows = await runSql(address(primary), "select 1 from pg_stat_replication where state = 'streaming'");
    return rows.length === (await running()).length - 1;
  };
  const primary = (): Promise<RunningContainer> => wait('a primary', findPrimary);
  return {
    scope,
    seeds: NAMES.map((name) => `http://${name}:${API_PORT}`),
    members,
    primary,
    address,
    explain,
    waitUntilHealthy: async () => void (await wait('cluster healthy', isHealthy)),
    switchover: async () => {
      const old = await primary();
      const body = { leader: old.name };
      await wait('switchover accepted', async () => {
        const answer = await ask(`${api(old)}/switchover`, { method: 'POST', body, timeoutMs: 30_000 });
        // Right after the start no member may be near enough to be a candidate.
        if (answer?.status !== 200) await delay(500);
        return answer?.status === 200;
      });
      return await wait('another primary', async () => {
        const next = await findPrimary();
        return next !== undefined && next !== old && next;
      });
    },
  };
}

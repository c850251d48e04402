// HAProxy as one of the peers: a process under the harness's supervisor, observed through its statistics page.
import { chownSync, copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable, type Installation } from '../../support/patroni/availability.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { ask } from '../../support/patroni/http.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { findFreePorts } from '../../support/sockets/free-ports.ts';
import { SupervisedProcess } from '../../support/patroni/supervised-process.ts';
import { waitUntil } from '../../support/waiting/wait.ts';
import { haproxyConfig } from './haproxy-config.ts';
import type { Peer } from './peer.ts';
import { ProxyClients } from './proxied.ts';

const SUPERVISOR = join(import.meta.dirname, '../../support/patroni/supervise.py');

export function findHaproxy(): string | undefined {
  return findExecutable('haproxy') ?? findExecutable('../sbin/haproxy');
}

export interface RunningHaproxy {
  readonly ports: { readonly write: number; readonly read: number };
  /** Whether its own view is this. */
  readonly isSettled: (leader: MemberAddress, replicas: readonly MemberAddress[]) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

/** `checks`: the interval and the counts of the health check. `most`: sessions. */
export async function runHaproxy(
  name: string,
  checks: string,
  cluster: PatroniCluster,
  installation: Installation,
  most?: number,
): Promise<RunningHaproxy> {
  const haproxy = findHaproxy();
  if (haproxy === undefined) throw new Error('HAProxy is not installed: apt-get install haproxy');
  const [write = 0, read = 0, stats = 0] = await findFreePorts(3, ['127.0.0.1']);
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-haproxy-'));
  const [script, file] = [join(directory, 'supervise.py'), join(directory, 'haproxy.cfg')];
  copyFileSync(SUPERVISOR, script);
  writeFileSync(file, haproxyConfig({ write, read, stats }, cluster.members(), checks, most));
  const { account, python } = installation;
  if (account !== undefined) for (const path of [directory, script, file]) chownSync(path, account.uid, account.gid);
  const running = await SupervisedProcess.start({
    python,
    script,
    account,
    clusterDir: directory,
    dataDir: directory,
    logFile: join(directory, 'log'),
    command: [haproxy, '-db', '-f', file],
  });
  const stop = async (): Promise<void> => {
    await running.kill();
    await rm(directory, { recursive: true, force: true });
  };
  const upServers = () => readUpServers(stats);
  try {
    await waitUntil(`${name} up`, async () => (await upServers()) !== undefined, { timeoutMs: 10_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ports: { write, read },
    async isSettled(leader, replicas) {
      const up = await upServers();
      return isExactly(up?.get('write'), [leader]) && isExactly(up?.get('read'), replicas);
    },
    stop,
  };
}

export async function startHaproxy(
  name: string,
  checks: string,
  cluster: PatroniCluster,
  installation: Installation,
): Promise<Peer> {
  const { ports, isSettled, stop } = await runHaproxy(name, checks, cluster, installation);
  const clients = new ProxyClients(name, ports, cluster.app);
  return {
    name,
    write: (token) => clients.write(token),
    keep: (count) => clients.keep(count),
    longQuery: () => clients.longQuery(),
    readPort: ports.read,
    isSettled,
    log: () => [],
    stop,
  };
}

/** The servers that get connections, by listener; from the statistics in CSV. */
async function readUpServers(port: number): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
  const answer = await ask(`http://127.0.0.1:${port}/;csv`);
  if (answer?.status !== 200) return undefined;
  const [header = '', ...rows] = answer.text.trim().split('\n');
  const columns = header.replace(/^# /, '').split(',');
  const [listener, server, status] = ['pxname', 'svname', 'status'].map((column) => columns.indexOf(column));
  const up = new Map<string, string[]>();
  for (const row of rows) {
    const cells = row.split(',');
    const [proxy, name] = [cells[listener ?? -1] ?? '', cells[server ?? -1] ?? ''];
    // A server that has failed fewer checks than `fall` still gets connections, and its status is then "UP 1/3".
    const isUp = cells[status ?? -1]?.startsWith('UP') === true;
    if (isUp && name !== 'BACKEND') up.set(proxy, [...(up.get(proxy) ?? []), name]);
  }
  return up;
}

function isExactly(names: readonly string[] | undefined, members: readonly MemberAddress[]): boolean {
  return names?.length === members.length && members.every(({ name }) => names.includes(name));
}

// Pointsman with two workers before a fake cluster, as a process. The kernel decides which worker serves a client; a
// session's id in the log shows it.
import type { Address } from '../../../src/model/member.ts';
import { FakeCluster, fileFor } from './app-lab.ts';
import type { ConfigFile } from './app-lab.ts';
import { askingClient, isServed } from '../sockets/echo-session.ts';
import { startPointsman } from '../processes/pointsman-process.ts';
import type { LogLine, PointsmanProcess } from '../processes/pointsman-process.ts';
import { connectRaw } from '../sockets/raw-client.ts';
import type { RawClient } from '../sockets/raw-client.ts';

/** Chance gives both workers one long before. */
const MOST_TRIES = 60;

/** A list for each worker. */
export type OnBoth<T> = readonly [readonly T[], readonly T[]];

export class WorkersLab {
  readonly cluster: FakeCluster;
  readonly pointsman: PointsmanProcess;

  private constructor(cluster: FakeCluster, pointsman: PointsmanProcess) {
    this.cluster = cluster;
    this.pointsman = pointsman;
  }

  static async start(changes: ConfigFile = {}): Promise<WorkersLab> {
    const cluster = await FakeCluster.start();
    const pointsman = await startPointsman(fileOf(cluster, changes));
    const lab = new WorkersLab(cluster, pointsman);
    await pointsman.waitUntilReady();
    return lab;
  }

  /** The contents of its file, with these sections replaced. */
  file(changes: ConfigFile = {}): ConfigFile {
    return fileOf(this.cluster, changes);
  }

  /** The ids of the workers that accept clients, by their places. */
  async pids(): Promise<readonly number[]> {
    const { workers } = await this.status();
    return workers.flatMap(({ pid, ready }) => (pid !== null && ready ? [pid] : []));
  }

  async status(): Promise<{ readonly workers: readonly { pid: number | null; ready: boolean; sessions: number }[] }> {
    return JSON.parse((await this.pointsman.admin('/status')).text);
  }

  async at(pool: string): Promise<Address> {
    return { host: '127.0.0.1', port: await this.pointsman.port(pool) };
  }

  said(event: string): readonly LogLine[] {
    return this.pointsman.lines.filter((line) => line['event'] === event);
  }

  /** 1, 2, and further for those that came in the place of others. */
  async workerOf(client: RawClient): Promise<number> {
    const line = await this.pointsman.waitFor('its line in the log', () => {
      const accepted = this.said('client_accepted').find((one) => one['client'] === nameOf(client));
      return accepted ?? undefined;
    });
    return workerIn(line);
  }

  /** Opens clients, at least one on each worker. */
  async onBoth(pool: string, open: (at: Address) => Promise<RawClient> = askingClient): Promise<OnBoth<RawClient>> {
    const clients: [RawClient[], RawClient[]] = [[], []];
    const at = await this.at(pool);
    for (let tries = 0; tries < MOST_TRIES && clients.some((list) => list.length === 0); tries += 1) {
      const client = await open(at);
      clients[(await this.workerOf(client)) % 2 === 1 ? 0 : 1].push(client);
    }
    if (clients.some((list) => list.length === 0)) throw new Error(`one worker got none of ${MOST_TRIES} clients`);
    return clients;
  }

  /** Likewise, all served by echoing servers. */
  async sessionsOnBoth(pool: string): Promise<OnBoth<RawClient>> {
    const clients = await this.onBoth(pool);
    await this.pointsman.waitFor('the sessions', () => clients.flat().every(isServed));
    return clients;
  }

  /** pg-2 is the primary from now on, pg-1 a replica. */
  switchOver(): void {
    this.cluster.primary.api.set({ role: 'replica', hasLock: false });
    this.cluster.replica.api.set({ role: 'primary', hasLock: true, timeline: 2 });
  }

  async stop(): Promise<void> {
    await this.pointsman.stop();
    await this.cluster.stop();
  }
}

export function workerIn(line: LogLine): number {
  return Math.floor(Number(line['session']) / 1e11);
}

function nameOf({ socket }: RawClient): string {
  return `${socket.localAddress}:${socket.localPort}`;
}

function fileOf({ primary, replica }: FakeCluster, changes: ConfigFile): ConfigFile {
  return fileFor([primary, replica], { workers: 2, log: { level: 'trace', format: 'json' }, ...changes });
}

/** Nobody listens there. */
export async function isFree(at: Address): Promise<boolean> {
  try {
    (await connectRaw(at)).socket.destroy();
    return false;
  } catch {
    return true;
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

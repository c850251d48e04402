// Pointsman with two workers before a fake cluster, as a process. Which worker serves a client the kernel decides; a session's id says
// it, in the log.
import { FakeCluster, fileFor } from './app-lab.ts';
import type { ConfigFile } from './app-lab.ts';
import { echoSession } from './echo-session.ts';
import { startPointsman } from './pointsman-process.ts';
import type { PointsmanProcess } from './pointsman-process.ts';
import type { RawClient } from './raw-client.ts';

/** Chance gives both workers one long before. */
const MOST_TRIES = 60;

export interface WorkersLab {
  readonly cluster: FakeCluster;
  readonly pointsman: PointsmanProcess;
  /** Of the workers that run, by their places. */
  pids(): Promise<readonly number[]>;
  /** Sessions, at least one on each: those of the first worker, those of the second. */
  sessionsOnBoth(pool: string): Promise<readonly [readonly RawClient[], readonly RawClient[]]>;
  stop(): Promise<void>;
}

export async function startWorkersLab(changes: ConfigFile = {}): Promise<WorkersLab> {
  const cluster = await FakeCluster.start();
  const pointsman = await startPointsman(
    fileFor([cluster.primary, cluster.replica], {
      workers: 2,
      log: { level: 'debug', format: 'json' },
      ...changes,
    }),
  );
  await pointsman.waitUntilReady();
  const status = async () => JSON.parse((await pointsman.admin('/status')).text);
  const workerOf = (client: RawClient): Promise<number> =>
    pointsman.waitFor('the session in the log', () => {
      const from = `127.0.0.1:${client.socket.localPort}`;
      const line = pointsman.lines.find((one) => one['event'] === 'session-opened' && one['client'] === from);
      return line === undefined ? undefined : Math.floor(Number(line['session']) / 1e11);
    });
  return {
    cluster,
    pointsman,
    pids: async () => (await status()).workers.flatMap(({ pid }: { pid: number | null }) => pid ?? []),
    async sessionsOnBoth(pool) {
      const sessions: [RawClient[], RawClient[]] = [[], []];
      const at = { host: '127.0.0.1', port: await pointsman.port(pool) };
      for (let tries = 0; tries < MOST_TRIES && sessions.some((list) => list.length === 0); tries += 1) {
        const client = await echoSession(at);
        sessions[(await workerOf(client)) === 1 ? 0 : 1].push(client);
      }
      if (sessions.some((list) => list.length === 0)) throw new Error(`one worker got none of ${MOST_TRIES} clients`);
      return sessions;
    },
    async stop() {
      await pointsman.stop();
      await cluster.stop();
    },
  };
}

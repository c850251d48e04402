// The packets of a primary vanish, to it and from it, with `moves.mode: always`. Prints what becomes of its sessions.
// In a network of its own. The word `encrypted`: with TLS on both legs.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeldSession } from '../applications/held-session.ts';
import { SandboxCluster } from '../clusters/sandbox-cluster.ts';
import { SERVER_NAME, serverName } from '../clusters/server-name.ts';
import { monotonicMs } from '../waiting/wait.ts';
import { dropPacketsOfPort } from '../processes/own-network.ts';
import { configFor } from '../processes/pointsman-config.ts';
import { startPointsman } from '../processes/pointsman-process.ts';
import type { PointsmanProcess } from '../processes/pointsman-process.ts';
import { until } from '../waiting/until.ts';
import { listSessions } from './move.ts';
import { movesConfig, prepareDatabase } from './prepared-database.ts';
import type { VanishedPackets } from './vanished-packets.ts';

const PATIENCE_MS = 60_000;
/** Longer than a session has to be idle, with a report of the primary behind it. */
const IDLE_MS = 8_000;
const SESSIONS = 4;

/** The answer, or the error that the client sees. */
async function fate(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    (answer) => `answered: ${JSON.stringify(answer)}`,
    (error: unknown) => String(error),
  );
}

/** That were answered. */
function questions({ lines }: PointsmanProcess): number {
  return lines.filter(({ event }) => event === 'session_asked').length;
}

/** With which sessions ended, before the clients left. */
function reasons({ lines }: PointsmanProcess): string[] {
  const closed = lines.filter(({ event, reason }) => event === 'session_closed' && reason !== 'client_closed');
  return closed.map(({ reason }) => String(reason)).toSorted();
}

async function play(cluster: SandboxCluster, pointsman: PointsmanProcess): Promise<VanishedPackets> {
  await pointsman.waitUntilReady();
  const old = await cluster.leader();
  const [next] = cluster.members().filter(({ name }) => name !== old.name);
  if (next === undefined) throw new Error('no replica');
  const port = await pointsman.port('write');
  const open = (): Promise<HeldSession> => HeldSession.open(port, cluster.app);
  const idle = await HeldSession.openMany(SESSIONS, port, cluster.app);
  for (const { client } of idle) await client.query("set work_mem = '7MB'");
  const [listening, inTransaction, recent, asking, asleep] = [
    await open(),
    await open(),
    await open(),
    await open(),
    await open(),
  ];
  await listening.client.query('listen news');
  await inTransaction.client.query('begin; select 1');
  const running = fate(asleep.client.query('select pg_sleep(600)'));
  const since = monotonicMs();
  await until('sessions that are idle for long', () => monotonicMs() > since + IDLE_MS, PATIENCE_MS);

  // From now on it reports no position.
  const healApi = await dropPacketsOfPort(Number(new URL(old.api).port));
  const asked = questions(pointsman);
  await recent.client.query("insert into loaded (source) values ('recent')");
  await pointsman.waitFor('the question to the recent session', () => questions(pointsman) > asked, PATIENCE_MS);
  const healServer = await dropPacketsOfPort(old.port);
  try {
    const droppedAt = monotonicMs();
    // At once: an idle session would move.
    const inFlight = fate(asking.client.query('select 1'));
    // The host is gone for the others, too: its lock expires.
    await cluster.freezeManager(old.name);
    const ends = { listening, inTransaction, recent, asking, asleep };
    const haveEnded = (): true => {
      const left = Object.entries(ends).flatMap(([name, { endedAtMs }]) => (endedAtMs === undefined ? [name] : []));
      if (left.length > 0) throw new Error(`no end of ${left.join(', ')}`);
      return true;
    };
    await pointsman.waitFor('every end', haveEnded, PATIENCE_MS);
    const text = `select current_setting('work_mem') as memory, ${SERVER_NAME} as server`;
    const answers = await Promise.all(idle.map(async ({ client }) => (await client.query(text)).rows));
    const afterMs = monotonicMs() - droppedAt;
    const fresh = await open();
    const left = (await listSessions(pointsman)).filter(({ member }) => member === old.name).length;
    await Promise.all([...idle, ...Object.values(ends), fresh].map((session) => session.close()));
    return {
      next: serverName(next),
      answers,
      ended: {
        listening: listening.endedWith ?? '',
        inTransaction: inTransaction.endedWith ?? '',
        recent: recent.endedWith ?? '',
        inFlight: await inFlight,
        running: await running,
      },
      fresh: fresh.server,
      left,
      reasons: reasons(pointsman),
      afterMs: Math.round(afterMs),
    };
  } finally {
    await healApi();
    await healServer();
  }
}

const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
const cluster = await SandboxCluster.start({ members: 2, tls: process.argv[2] === 'encrypted' });
try {
  await prepareDatabase(cluster);
  const config = configFor(cluster, {
    ...movesConfig(cluster, directory, { mode: 'always' }),
    // It has the questions.
    log: { level: 'trace', format: 'json' },
  });
  const pointsman = await startPointsman(config);
  try {
    process.stdout.write(JSON.stringify(await play(cluster, pointsman)));
  } finally {
    await pointsman.stop();
  }
} finally {
  await cluster.destroy();
  await rm(directory, { recursive: true, force: true });
}

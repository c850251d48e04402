// `npm run bench:moves-idle`: many idle sessions before one cluster of the sandbox. The memory of a session with
// `moves` and without, how long a switchover takes that moves all of them, and how long a busy client waits meanwhile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { z } from 'zod';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { waitForMembers } from '../support/clusters/pool-members.ts';
import { SandboxCluster } from '../support/clusters/sandbox-cluster.ts';
import { BusyClient } from './moves/busy-client.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { Command } from '../support/processes/command.ts';
import { median } from '../support/values/median.ts';
import { type ConfigOverrides, configFor } from '../support/processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../support/processes/pointsman-process.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const AT_A_TIME = 16;
/** Memory is looked at with so many numbers of sessions, the same far apart. */
const LOOKS = 5;
const STATEMENTS = 6;
/** Sessions that come and go before, so that code and caches are there. */
const WARM_UP = 50;
const WARM_UPS = 5;
const SETTLED_MS = 60_000;
/** Longer than the pause of a session before a question. */
const QUIET_MS = 3_000;
const ASK_EVERY_MS = 1_000;

interface Memory {
  readonly heap: number;
  readonly external: number;
}

const memoryLine = z.looseObject({ event: z.literal('memory'), heap: z.number(), external: z.number() });

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    mode: { type: 'string', default: 'planned' },
    rounds: { type: 'string', default: '3' },
  },
});
const { mode } = values;
const count = Number(values.sessions);
const rounds = Number(values.rounds);
if (!Number.isInteger(count) || count < LOOKS) throw new Error(`--sessions: '${values.sessions}' is too few`);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds: '${values.rounds}' is not a number above 0`);
if (mode !== 'planned' && mode !== 'always') throw new Error(`--mode: '${mode}' is neither planned nor always`);

const directory = mkdtempSync(join(tmpdir(), 'pointsman-moves-'));
const cluster = await SandboxCluster.start({ parameters: { max_connections: count + 100 } });
try {
  await prepareDatabase(cluster);
  const admin = { address: '127.0.0.1:0', token: ADMIN_TOKEN };
  const client = { max_sessions: count + 100 };
  const without = (): Promise<Memory> => play('without moves', { admin, client }, { hasMoves: false, isMoved: false });
  const beside = (isMoved: boolean): Promise<Memory> =>
    play('with moves', { client, ...movesConfig(cluster, directory, { mode }) }, { hasMoves: true, isMoved });
  const more: Memory[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const isLast = round === rounds;
    // In turns, so that neither is always the first.
    const first = round % 2 === 1 ? await without() : await beside(isLast);
    const second = round % 2 === 1 ? await beside(isLast) : await without();
    const [plain, moving] = round % 2 === 1 ? [first, second] : [second, first];
    more.push({ heap: moving.heap - plain.heap, external: moving.external - plain.external });
  }
  const together = more.map(({ heap, external }) => heap + external);
  const heap = median(more.map((one) => one.heap));
  const external = median(more.map((one) => one.external));
  console.log(`moves, mode ${mode}, medians of ${rounds} pairs: ${shown({ heap, external })}`);
  console.log(`together ${kb(median(together))} kB (${together.map(kb).join(', ')})`);
} finally {
  await cluster.destroy();
  rmSync(directory, { recursive: true, force: true });
}

/** Returns the bytes of one session: the slope over several numbers of sessions. */
async function play(
  name: string,
  overrides: ConfigOverrides,
  { hasMoves, isMoved }: { readonly hasMoves: boolean; readonly isMoved: boolean },
): Promise<Memory> {
  const NODE_OPTIONS = `--expose-gc --import=${join(import.meta.dirname, 'moves', 'memory-report.ts')}`;
  const log = { level: 'info', format: 'json' };
  const pointsman = await startPointsman(configFor(cluster, { log, ...overrides }), { NODE_OPTIONS });
  const sessions: Client[] = [];
  try {
    await pointsman.waitUntilReady();
    await waitForMembers({ cluster, pointsman }, 'write', [await cluster.leader()]);
    const port = await pointsman.port('write');
    for (let n = 0; n < WARM_UPS; n += 1) await leave(await open(port, Math.min(WARM_UP, count)));
    // The oldest session is the one that a switchover in the order of the sessions would park first.
    const busy = await BusyClient.connect({ host: '127.0.0.1', port, ...cluster.app });
    const looks: (Memory & { readonly count: number })[] = [];
    for (let look = 1; look <= LOOKS; look += 1) {
      const wanted = Math.floor((count * look) / LOOKS);
      sessions.push(...(await open(port, wanted - sessions.length, sessions.length)));
      if (hasMoves && mode === 'always') await waitUntilAsked(pointsman, wanted);
      looks.push({ count: wanted, ...(await memoryOf(pointsman)) });
    }
    const each = {
      heap: slope(looks.map((look) => [look.count, look.heap])),
      external: slope(looks.map((look) => [look.count, look.external])),
    };
    console.log(`${count} sessions ${name}: ${shown(each)}`);
    if (isMoved) busy.begin();
    if (isMoved) await moveAll(pointsman, sessions);
    const figures = await busy.stop();
    if (isMoved) console.log(`longest gap of a busy client: ${figures}`);
    return each;
  } finally {
    await leave(sessions);
    await pointsman.stop();
  }
}

/** The slope of the straight line with the least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const meanOf = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [meanOf(0), meanOf(1)];
  const both = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return both / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

/** Every session has been asked for its state, and no question is under way. */
async function waitUntilAsked(pointsman: PointsmanProcess, wanted: number): Promise<void> {
  let last = { asked: 0, at: performance.now() };
  await pointsman.waitFor(
    'the answers of the sessions',
    async () => {
      // Seldom: many requests for metrics would leave compiled code in the heap that is measured.
      await sleep(ASK_EVERY_MS);
      const asked = (await pointsman.metric('pointsman_session_questions_total{result="movable"}')) ?? 0;
      if (asked !== last.asked) last = { asked, at: performance.now() };
      return asked >= wanted && performance.now() - last.at > QUIET_MS;
    },
    SETTLED_MS,
  );
}

function shown({ heap, external }: Memory): string {
  return `heap ${kb(heap)} kB each, buffers ${kb(external)} kB each`;
}

function kb(bytes: number): string {
  return (bytes / 1000).toFixed(2);
}

async function moveAll(pointsman: PointsmanProcess, sessions: readonly Client[]): Promise<void> {
  await waitForCandidates({ cluster, pointsman });
  const backends = await Promise.all(sessions.map(backendOf));
  const address = `127.0.0.1:${await pointsman.port('admin')}`;
  const command = new Command(['switchover', '--admin', address, '--yes'], { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
  const code = await command.code;
  console.log(command.output);
  if (code !== 0) throw new Error(`pointsman switchover ended with ${code}`);
  const finished = await pointsman.waitFor(
    'the end of the moves',
    () => pointsman.lines.find(({ event }) => event === 'moves_finished'),
    SETTLED_MS,
  );
  console.log(String(finished['msg']));
  const kept = await Promise.all(sessions.map(async (session, at) => isKept(session, at, backends[at])));
  console.log(`${kept.filter(Boolean).length} of ${sessions.length} have their state`);
}

/** `from`: the number of the first one. */
async function open(port: number, wanted: number, from = 0): Promise<Client[]> {
  const sessions: Client[] = [];
  while (sessions.length < wanted) {
    const some = Array.from({ length: Math.min(AT_A_TIME, wanted - sessions.length) }, (_, n) => sessions.length + n);
    sessions.push(...(await Promise.all(some.map(async (at) => openOne(port, from + at)))));
  }
  return sessions;
}

async function openOne(port: number, at: number): Promise<Client> {
  const session = new Client({ host: '127.0.0.1', port, ...cluster.app });
  session.on('error', (error) => console.error(`session ${at}: ${error.message}`));
  await session.connect();
  await session.query(`set work_mem = '${at + 64}kB'`);
  for (let n = 1; n <= STATEMENTS; n += 1) await execute(session, n, at);
  return session;
}

async function execute(session: Client, n: number, at: number): Promise<unknown> {
  const { rows } = await session.query<{ sum: number }>({
    name: `sum ${n}`,
    text: `select $1::int + ${n} as sum`,
    values: [at],
  });
  return rows[0]?.sum;
}

async function backendOf(session: Client): Promise<unknown> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

async function isKept(session: Client, at: number, backend: unknown): Promise<boolean> {
  const { rows } = await session.query<{ kb: number }>(
    `select setting::int as kb from pg_settings where name = 'work_mem'`,
  );
  const hasSetting = rows[0]?.kb === at + 64;
  // It knows the name already, so it does not prepare it again.
  return (
    hasSetting && (await execute(session, STATEMENTS, at)) === at + STATEMENTS && (await backendOf(session)) !== backend
  );
}

/** After the garbage was collected until nothing changed. */
async function memoryOf(pointsman: PointsmanProcess): Promise<Memory> {
  const reports = () => pointsman.lines.flatMap((line) => memoryLine.safeParse(line).data ?? []);
  const before = reports().length;
  pointsman.signal('SIGUSR2');
  return pointsman.waitFor('a report of the memory', () => reports()[before], SETTLED_MS);
}

async function leave(sessions: readonly Client[]): Promise<void> {
  await Promise.all(sessions.map((session) => session.end().catch(() => undefined)));
}

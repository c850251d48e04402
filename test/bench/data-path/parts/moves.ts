// Pointsman with sessions that may move beside Pointsman without `moves`: round trips, connects, idle sessions. The
// role of the load program moves. It logs in without a password, so that its login can be repeated. The tiny backend
// tells the state of its sessions.
import { setTimeout as delay } from 'node:timers/promises';
import { READING_SETTINGS } from '../../../../src/model/moves.ts';
import { FAILED, type Figures, type Lab, type Peers } from '../lab.ts';
import { largestOpen } from '../limits.ts';
import type { Variant } from '../options.ts';
import { type Peer, watched } from '../peers/peer.ts';
import type { Sample } from '../sample.ts';
import { connectionsText } from './ping-pong.ts';

const MODES = ['none', 'planned', 'always'] as const;
const CONNECTIONS = [32, 512];
const SESSIONS = [2_000, 10_000];
const MOST_IDLE_ROUNDS = 3;
const PARALLEL = 32;
/** Long enough for the JIT compiler. */
const WARM_S = 2;
const ROLE = 'bench';
const ASKED = /^pointsman_session_questions_total\{[^}]*result="movable"[^}]*\} (\d+)$/gm;
const ASKED_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 500;

/** As a new session at a primary (wire/talk/session-state.ts). */
const STATE = {
  reading: Object.fromEntries(READING_SETTINGS.map((name) => [name, 'on'])),
  wal_writer_delay: '200',
  role: 'none',
  session_user: ROLE,
  identity: '16384.16385.16385',
  search_path: '"$user", public',
  wal: {
    written: '50331648',
    file: '000000010000000000000003',
    page: '8192',
    segment: '16777216',
    ended: '800',
    below: '800',
  },
  ...Object.fromEntries(['advisory', 'temporary', 'slots'].map((name) => [name, 0])),
  ...Object.fromEntries(
    ['settings', 'privileged', 'named', 'unclear', 'custom', 'prepared', 'listening', 'cursors'].map((name) => [
      name,
      null,
    ]),
  ),
};

export async function moves(lab: Lab): Promise<readonly Sample[]> {
  const { options } = lab;
  const state = Buffer.from(JSON.stringify(STATE)).toString('base64');
  const { port, child } = await lab.load.backend({ state });
  await using backend = child;
  await using peers = await start(lab, port, backend.pid);
  const samples = [...(await busy(lab, peers))];
  for (const wanted of options.sessions ?? SESSIONS) {
    const sessions = Math.min(wanted, largestOpen(0));
    if (sessions < wanted)
      lab.tell(`moves: ${sessions} instead of ${wanted} sessions, because of the limit of open files`);
    for (let round = 1; round <= Math.min(options.rounds, MOST_IDLE_ROUNDS); round += 1) {
      // A process rarely returns memory that it has used. A quick look has the same proxies for all.
      await using own = lab.isQuickLook() ? undefined : await start(lab, port, backend.pid);
      const measure = (peer: Peer) => hold(lab, peer, sessions);
      const once = await lab.inTurn('moves', `${sessions} idle sessions`, (own ?? peers).list, measure, 1);
      samples.push(...once.map((sample) => ({ ...sample, round })));
    }
  }
  return samples;
}

async function busy(lab: Lab, peers: Peers): Promise<readonly Sample[]> {
  const { load, options } = lab;
  const samples: Sample[] = [];
  for (const connections of options.connections ?? CONNECTIONS) {
    const measure = async (peer: Peer): Promise<Figures> => {
      const given = { port: peer.port, connections, seconds: options.seconds, watch: watched(peer) };
      const { cpuUs, done, seconds } = await load.measure('ping-pong', given);
      return { 'CPU per round trip, µs': cpuUs / done, 'round trips per s': done / seconds };
    };
    samples.push(...(await lab.inTurn('moves', connectionsText(connections), peers.list, measure)));
  }
  const connect = async (peer: Peer): Promise<Figures> => {
    const given = { port: peer.port, parallel: PARALLEL, seconds: options.seconds, watch: watched(peer) };
    const { cpuUs, done, failed, seconds } = await load.measure('connects', given);
    return { 'CPU per session, µs': cpuUs / done, 'sessions per s': done / seconds, [FAILED]: failed };
  };
  return [...samples, ...(await lab.inTurn('moves', `connects, ${PARALLEL} at a time`, peers.list, connect))];
}

/** Sessions of one query. With `always` their server has been asked for their state. */
async function hold(lab: Lab, peer: Peer, connections: number): Promise<Figures> {
  const before = await lab.memoryKb(peer);
  const asked = await askedOf(peer);
  await using held = await lab.load.hold('idle', { port: peer.port, connections });
  void held;
  if (peer.name.startsWith('always')) await untilAsked(peer, asked + connections);
  return { 'memory per session, kB': ((await lab.memoryKb(peer)) - before) / connections };
}

async function untilAsked(peer: Peer, wanted: number): Promise<void> {
  const deadline = performance.now() + ASKED_WITHIN_MS;
  for (let asked = 0; (asked = await askedOf(peer)) < wanted;) {
    if (performance.now() > deadline) throw new Error(`${peer.name}: ${asked} of ${wanted} sessions can move`);
    await delay(LOOK_EVERY_MS);
  }
}

/** The sessions that can move by their server's answer. */
async function askedOf(peer: Peer): Promise<number> {
  const text = (await peer.metrics?.()) ?? '';
  return [...text.matchAll(ASKED)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Every variant in every mode; the names of the second variant and on have its own behind them. */
async function start(lab: Lab, port: number, backendPid: number): Promise<Peers> {
  const { options } = lab;
  const ways = [...options.variants].flatMap(([name, variant]) =>
    MODES.map((mode): readonly [string, Variant] => {
      const section = mode === 'none' ? {} : { moves: { mode, roles: [ROLE] } };
      const called = name === 'pointsman' ? mode : `${mode}, ${name}`;
      return [called, { ...variant, config: { ...variant.config, ...section } }];
    }),
  );
  const choice = { without: ['direct', 'haproxy', 'pgbouncer', 'floor'], variants: new Map(ways) } as const;
  await using started = new AsyncDisposableStack();
  const { list } = started.use(await lab.peers(port, choice));
  await lab.place('apart', list, [backendPid]);
  // Connects need all the code that round trips need.
  const warm = { parallel: PARALLEL, seconds: WARM_S };
  for (const peer of lab.isQuickLook() ? [] : list) await lab.load.measure('connects', { port: peer.port, ...warm });
  const held = started.move();
  return { list, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

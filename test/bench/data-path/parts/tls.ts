// The cost of TLS in the proxy: the same work in plain text, with TLS that passes through, with TLS that ends in the
// proxy (`terminate`), and with TLS that it opens again to the server (`both legs`). HAProxy knows no request for TLS:
// its clients begin with the handshake, and so does it at the server.
import { Client } from 'pg';
import { SERVER, tlsFile } from '../../../support/values/tls-files.ts';
import { FAILED, type Figures, type Lab, type Peers } from '../lab.ts';
import { largestOpen } from '../limits.ts';
import type { LoadArguments } from '../load.ts';
import type { Variant } from '../options.ts';
import { startHaproxy } from '../peers/haproxy.ts';
import { type Peer, familyOfPeer, watched } from '../peers/peer.ts';
import { startPointsman } from '../peers/pointsman.ts';
import { type Postgres, startPostgres } from '../postgres.ts';
import { processorUs } from '../processes.ts';
import type { Sample } from '../sample.ts';
import { connectionsText } from './ping-pong.ts';

/** Long enough for the JIT compiler. */
const WARM_S = 2;
const CONNECTIONS = [1, 8];
const ROW_READERS = 4;
const AT_A_TIME = 8;
const IDLE = 2000;
const IDLE_ROUNDS = 3;
const ENDS_TLS = { client: { max_sessions: 20_000, tls: { mode: 'terminate', ...SERVER } } };

interface Way {
  readonly name: string;
  readonly config: (authority: string) => Variant['config'];
  readonly hasTls: boolean;
}

const WAYS: readonly Way[] = [
  { name: 'plain text', config: () => ({}), hasTls: false },
  { name: 'passthrough', config: () => ({}), hasTls: true },
  { name: 'terminate', config: () => ENDS_TLS, hasTls: true },
  {
    name: 'both legs',
    config: (authority) => ({ ...ENDS_TLS, backend: { tls: { mode: 'verify-full', ca_file: authority } } }),
    hasTls: true,
  },
];

/** A server that takes both TLS and plain text. */
interface TlsServer {
  readonly port: number;
  readonly authority: string;
}

export async function tls(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend({ cert: SERVER.cert, key: SERVER.key });
  await using backend = child;
  const server = { port, authority: tlsFile('ca.pem') };
  const samples = [...(await busy(lab, server, backend.pid)), ...(await idle(lab, server, backend.pid))];
  return [...samples, ...(await logins(lab))];
}

/** In less time a busy machine may complete no connect. */
const longEnough = ({ options }: Lab): number => Math.max(1, options.seconds);

async function busy(lab: Lab, server: TlsServer, backendPid: number): Promise<readonly Sample[]> {
  const { options, load } = lab;
  await using peers = await start(lab, server);
  const seconds = Math.min(WARM_S, 4 * options.seconds);
  for (const peer of peers.list) {
    await load.measure('ping-pong', { ...asClient(peer), connections: 32, warm: 0, seconds });
    await load.measure('connects', { ...asClient(peer), parallel: AT_A_TIME, seconds });
  }
  const samples: Sample[] = [];
  const measure = (given: LoadArguments) => async (peer: Peer) => {
    const asked = { ...asClient(peer), ...given, seconds: options.seconds, watch: watched(peer) };
    const { cpuUs, done, seconds: took, p50Us } = await load.measure('ping-pong', asked);
    return { 'CPU per round trip, µs': cpuUs / done, 'round trips per s': done / took, 'latency p50, µs': p50Us };
  };
  for (const connections of options.connections ?? CONNECTIONS) {
    await lab.place(connections === 1 ? 'together' : 'apart', peers.list, [backendPid]);
    samples.push(...(await lab.inTurn('tls', connectionsText(connections), peers.list, measure({ connections }))));
  }
  await lab.place('apart', peers.list, [backendPid]);
  const rows = measure({ connections: ROW_READERS, verb: 'rows' });
  samples.push(...(await lab.inTurn('tls', `1000 rows of 100 bytes, ${ROW_READERS} connections`, peers.list, rows)));
  const connect = async (peer: Peer) => {
    const asked = { ...asClient(peer), parallel: AT_A_TIME, seconds: longEnough(lab), watch: watched(peer) };
    return sessionFigures(await load.measure('connects', asked));
  };
  return [...samples, ...(await lab.inTurn('tls', `connects, trust, ${AT_A_TIME} at a time`, peers.list, connect))];
}

/** A proxy of its own for each measurement, because a process rarely returns memory that it has used. */
async function idle(lab: Lab, server: TlsServer, backendPid: number): Promise<readonly Sample[]> {
  const { options } = lab;
  const samples: Sample[] = [];
  for (const wanted of options.sessions ?? [IDLE]) {
    const connections = Math.min(wanted, largestOpen(0));
    for (const verb of lab.isQuickLook() ? ['values'] : ['values', 'rows']) {
      const scene = `${connections} idle sessions${verb === 'rows' ? ' after 1000 rows of 100 bytes' : ''}`;
      const measure = (peer: Peer): Promise<Figures> => hold(lab, peer, { connections, verb });
      for (let round = 1; round <= Math.min(options.rounds, IDLE_ROUNDS); round += 1) {
        await using peers = await start(lab, server);
        await lab.place('apart', peers.list, [backendPid]);
        const once = await lab.inTurn('tls', scene, peers.list, measure, 1);
        samples.push(...once.map((sample) => ({ ...sample, round })));
      }
    }
  }
  return samples;
}

async function hold(lab: Lab, peer: Peer, sessions: LoadArguments): Promise<Figures> {
  const { load, options } = lab;
  const seconds = Math.min(WARM_S, 2 * options.seconds);
  await load.measure('connects', { ...asClient(peer), parallel: 32, seconds });
  const before = await lab.memoryKb(peer);
  await using held = await load.hold('idle', { ...asClient(peer), ...sessions });
  void held;
  const after = await lab.memoryKb(peer);
  return { 'memory per session, kB': (after - before) / Number(sessions['connections']) };
}

/** At a real PostgreSQL, by a driver whose own work is not counted. */
async function logins(lab: Lab): Promise<readonly Sample[]> {
  await using postgres = await startPostgres({ tls: true });
  const { port, authority = '' } = postgres;
  await using peers = await start(lab, { port, authority });
  await lab.place('none', peers.list);
  for (const peer of peers.list) await logIn(peer, postgres, 0.5);
  const measure = async (peer: Peer) => sessionFigures(await logIn(peer, postgres, longEnough(lab)));
  return await lab.inTurn('tls', `connects, PostgreSQL 18 and SCRAM, ${AT_A_TIME} at a time`, peers.list, measure);
}

interface Sessions {
  readonly done: number;
  readonly failed: number;
  readonly seconds: number;
  readonly cpuUs: number;
}

async function logIn(peer: Peer, postgres: Postgres, seconds: number): Promise<Sessions> {
  const { user, password, database } = postgres;
  const pids = familyOfPeer(peer);
  const tls = peer.tls && { ssl: { rejectUnauthorized: false, ALPNProtocols: ['postgresql'] } };
  const how = { host: '127.0.0.1', port: peer.port, user, password, database, ...tls };
  const direct = peer.tls === 'direct' ? { sslnegotiation: 'direct' as const } : {};
  const [beganUs, beganMs] = [processorUs(pids), performance.now()];
  let done = 0;
  let failed = 0;
  const oneByOne = async (): Promise<void> => {
    while (performance.now() - beganMs < seconds * 1000) {
      const client = new Client({ ...how, ...direct });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('select 1');
        done += 1;
      } catch {
        failed += 1;
      }
      await client.end();
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, oneByOne));
  return { done, failed, seconds: (performance.now() - beganMs) / 1000, cpuUs: processorUs(pids) - beganUs };
}

function sessionFigures({ done, failed, seconds, cpuUs }: Sessions): Figures {
  return { 'CPU per session, µs': cpuUs / done, 'sessions per s': done / seconds, [FAILED]: failed };
}

function asClient({ port, tls: how }: Peer): LoadArguments {
  return { port, ...(how && { tls: how }) };
}

/** Every variant of Pointsman in every way; the names of the second variant and on have its own behind them. */
async function start(lab: Lab, { port: backendPort, authority }: TlsServer): Promise<Peers> {
  const surroundings = { backendPort, user: 'bench' };
  await using started = new AsyncDisposableStack();
  const list: Peer[] = [];
  const add = (peer: Peer): void => void list.push(started.use(peer));
  for (const [variantName, variant] of lab.options.variants) {
    const build = await lab.build(variant.checkout ?? '.');
    for (const { name, config, hasTls } of WAYS) {
      const called = variantName === 'pointsman' ? name : `${name}, ${variantName}`;
      const merged = { ...variant, config: { ...variant.config, ...config(authority) } };
      const peer = await startPointsman(called, build, merged, surroundings);
      add({ ...peer, ...(hasTls && { tls: 'request' }) });
    }
  }
  if (lab.options.peers.includes('haproxy')) {
    add(await startHaproxy(surroundings, undefined, 'HAProxy: plain text'));
    for (const [name, signer] of [['HAProxy: terminate'], ['HAProxy: both legs', authority]] as const)
      add(await startHaproxy(surroundings, { pair: SERVER, authority: signer }, name));
  }
  const held = started.move();
  return { list, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

// pgbench's select-only transactions (one SELECT by primary key) on a real PostgreSQL, in the three protocol modes.
import type { Figures, Lab } from '../lab.ts';
import { Child, run } from '../child.ts';
import { type Peer, familyOfPeer } from '../peers/peer.ts';
import { clientOf, type Postgres, startPostgres } from '../postgres.ts';
import { processorUs } from '../processes.ts';
import type { Sample } from '../sample.ts';

const CLIENTS = [1, 8, 32, 64];
const SCALE = 10;
/** pgbench reports whole seconds. The first report does not count, because clients connect before it. */
const LEAST_SECONDS = 2;
/** pgbench's time limit begins before its clients connect, which takes seconds on a slow machine. */
const CONNECT_SECONDS = 60;

export async function pgbench(lab: Lab): Promise<readonly Sample[]> {
  await using postgres = await startPostgres();
  await run(clientOf(postgres, 'pgbench', postgres.port, ['-i', '-q', '-s', String(SCALE), '--unlogged-tables']));
  await using peers = await lab.peers(postgres.port, { user: postgres.user });
  await lab.place('none', peers.list);
  const { modes, connections = CLIENTS } = lab.options;
  for (const peer of peers.list) await transact(postgres, peer, 'prepared', 16, LEAST_SECONDS);
  const samples: Sample[] = [];
  for (const mode of modes) {
    for (const clients of connections) {
      const measure = (peer: Peer) => transact(postgres, peer, mode, clients, lab.options.seconds);
      samples.push(...(await lab.inTurn('pgbench', `${mode}, ${clients} clients`, peers.list, measure)));
    }
  }
  return samples;
}

async function transact(
  postgres: Postgres,
  peer: Peer,
  mode: string,
  clients: number,
  seconds: number,
): Promise<Figures> {
  const counted = Math.max(LEAST_SECONDS, Math.round(seconds));
  const limit = String(counted + CONNECT_SECONDS);
  const args = ['-S', '-n', '-M', mode, '-c', String(clients), '-j', '1', '-T', limit, '-P', '1'];
  await using child = new Child(clientOf(postgres, 'pgbench', peer.port, args));
  child.release();
  const { atS: startedAtS } = await child.saying('first transaction', progressOf, CONNECT_SECONDS * 1000);
  const family = familyOfPeer(peer);
  const before = processorUs(family);
  const told: Progress[] = [];
  await child.saying(
    'end',
    (line) => {
      const progress = progressOf(line);
      if (progress !== undefined && progress.atS > startedAtS) told.push(progress);
      return told.length === counted - 1 || undefined;
    },
    (counted + 10) * 1000,
  );
  const cpuUs = processorUs(family) - before;
  const perSecond = told.reduce((sum, { tps }) => sum + tps, 0) / told.length;
  const latencyMs = told.reduce((sum, progress) => sum + progress.latencyMs, 0) / told.length;
  const cpu = peer.pid === undefined ? {} : { 'CPU per transaction, µs': cpuUs / (perSecond * told.length) };
  return { ...cpu, 'transactions per s': perSecond, 'latency mean, µs': latencyMs * 1000 };
}

interface Progress {
  readonly atS: number;
  readonly tps: number;
  readonly latencyMs: number;
}

function progressOf(line: string): Progress | undefined {
  const [, atS, tps, latencyMs] = /^progress: ([\d.]+) s, ([\d.]+) tps, lat ([\d.]+) ms/.exec(line) ?? [];
  return atS === undefined ? undefined : { atS: Number(atS), tps: Number(tps), latencyMs: Number(latencyMs) };
}

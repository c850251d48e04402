// Sessions of one query each (connect, startup, query, Terminate), before the tiny backend and before a real
// PostgreSQL, whose fork hides most of a proxy's cost. PgBouncer does less work here: it reuses its server connections.
import { FAILED, type Figures, type Lab } from '../lab.ts';
import { type Peer, watched } from '../peers/peer.ts';
import { startPostgres } from '../postgres.ts';
import type { LoadArguments } from '../load.ts';
import type { Sample } from '../sample.ts';

/** V8 goes on optimizing for so many, however long they take. */
const WARM_SESSIONS = 24_000;
const WARM_STEP_S = 4;
const MOST_WARM_STEPS = 15;
const QUICK_WARM_S = 2;

export async function connects(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend();
  await using backend = child;
  await using peers = await lab.peers(port);
  await lab.place('apart', peers.list, [backend.pid]);
  const tiny = (peer: Peer) => reconnect(lab, peer, { parallel: 32 });
  for (const peer of peers.list) await warmUp(lab, peer, { parallel: 32 });
  const first = await lab.inTurn('connects', 'tiny backend, 32 at a time', peers.list, tiny);
  await using postgres = await startPostgres();
  const { user, database } = postgres;
  await using realPeers = await lab.peers(postgres.port, { user });
  await lab.place('none', realPeers.list);
  const real = (peer: Peer) => reconnect(lab, peer, { parallel: 8, user, database });
  for (const peer of realPeers.list) await warmUp(lab, peer, { parallel: 8, user, database });
  return [...first, ...(await lab.inTurn('connects', 'PostgreSQL, 8 at a time', realPeers.list, real))];
}

async function warmUp(lab: Lab, peer: Peer, more: LoadArguments): Promise<void> {
  if (lab.isQuickLook()) return void (await reconnect(lab, peer, { ...more, seconds: QUICK_WARM_S }));
  let done = 0;
  for (let step = 0; step < MOST_WARM_STEPS && done < WARM_SESSIONS; step += 1) {
    const of = { port: peer.port, watch: watched(peer), ...more, seconds: WARM_STEP_S };
    done += (await lab.load.measure('connects', of)).done;
  }
  return undefined;
}

async function reconnect({ load, options }: Lab, peer: Peer, more: LoadArguments): Promise<Figures> {
  const { seconds } = options;
  const measured = await load.measure('connects', { port: peer.port, seconds, watch: watched(peer), ...more });
  const cpu = peer.pid === undefined ? {} : { 'CPU per session, µs': measured.cpuUs / measured.done };
  return {
    ...cpu,
    'sessions per s': measured.done / measured.seconds,
    'whole session p50, µs': measured.p50Us,
    'whole session p99, µs': measured.p99Us,
    [FAILED]: measured.failed,
  };
}

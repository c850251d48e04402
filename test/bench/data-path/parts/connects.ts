// Sessions of one query each (connect, startup, query, Terminate), before the tiny backend and before a real
// PostgreSQL, whose fork hides most of a proxy's cost. PgBouncer does less work here: it reuses its server connections.
import { FAILED, type Figures, type Lab } from '../lab.ts';
import { type Peer, watched } from '../peers/peer.ts';
import { startPostgres } from '../postgres.ts';
import type { LoadArguments } from '../load.ts';
import type { Sample } from '../sample.ts';

/** V8 goes on optimizing for some 15,000 sessions. */
const WARM_S = 12;
const QUICK_WARM_S = 2;

export async function connects(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend();
  await using backend = child;
  await using peers = await lab.peers(port);
  await lab.place('apart', peers.list, [backend.pid]);
  const tiny = (peer: Peer) => reconnect(lab, peer, { parallel: 32 });
  const seconds = lab.isQuickLook() ? QUICK_WARM_S : WARM_S;
  for (const peer of peers.list) await reconnect(lab, peer, { parallel: 32, seconds });
  const first = await lab.inTurn('connects', 'tiny backend, 32 at a time', peers.list, tiny);
  await using postgres = await startPostgres();
  const { user, database } = postgres;
  await using realPeers = await lab.peers(postgres.port, { user });
  await lab.place('none', realPeers.list);
  const real = (peer: Peer) => reconnect(lab, peer, { parallel: 8, user, database });
  if (!lab.isQuickLook())
    for (const peer of realPeers.list) await reconnect(lab, peer, { parallel: 8, user, database, seconds });
  return [...first, ...(await lab.inTurn('connects', 'PostgreSQL, 8 at a time', realPeers.list, real))];
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

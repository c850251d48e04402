// Many idle sessions beside 32 busy ones: memory per idle session, and the latency of the busy ones. Each measurement
// starts a new proxy, because a process rarely returns memory that it has used.
import type { Figures, Lab } from '../lab.ts';
import { type Peer, watched } from '../peers/peer.ts';
import type { Sample } from '../sample.ts';
import { largestOpen } from '../limits.ts';

const SESSIONS = [1000, 5000, 10_000];
const BUSY = 32;
const MOST_ROUNDS = 3;
const LATE = 'how late the event loop was, p99 by its own metric, ms';
const LAG = /^nodejs_eventloop_lag_p99_seconds\{.*\} ([\d.e+-]+)$/m;

export async function idle(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend();
  await using backend = child;
  const samples: Sample[] = [];
  for (const wanted of lab.options.sessions ?? SESSIONS) {
    const sessions = Math.min(wanted, largestOpen(BUSY));
    if (sessions < wanted)
      lab.tell(`idle: ${sessions} instead of ${wanted} sessions, because of the limit of open files`);
    for (let round = 1; round <= Math.min(lab.options.rounds, MOST_ROUNDS); round += 1) {
      await using peers = await lab.peers(port, { without: ['direct'] });
      await lab.place('apart', peers.list, [backend.pid]);
      const measure = (peer: Peer) => hold(lab, peer, sessions);
      const once = await lab.inTurn('idle', `${sessions} sessions`, peers.list, measure, 1);
      samples.push(...once.map((sample) => ({ ...sample, round })));
    }
  }
  return samples;
}

async function hold(lab: Lab, peer: Peer, sessions: number): Promise<Figures> {
  const { load, options } = lab;
  const busy = { port: peer.port, connections: BUSY, seconds: options.seconds, watch: watched(peer) };
  await load.measure('ping-pong', { ...busy, seconds: 2 });
  const alone = await load.measure('ping-pong', busy);
  const before = await lab.memoryKb(peer);
  await using held = await load.hold('idle', { port: peer.port, connections: sessions });
  void held;
  // Resets the metric: each read reports the time since the read before it.
  await peer.metrics?.();
  const beside = await load.measure('ping-pong', busy);
  const metrics = await peer.metrics?.();
  const after = await lab.memoryKb(peer);
  return {
    'memory per session, kB': (after - before) / sessions,
    'CPU per round trip of 32 others, µs': beside.cpuUs / beside.done,
    'latency p99 of 32 others, µs': beside.p99Us,
    'the same before, µs': alone.p99Us,
    ...(metrics === undefined ? {} : { [LATE]: Number(LAG.exec(metrics)?.[1]) * 1000 }),
  };
}

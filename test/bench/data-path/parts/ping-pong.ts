// Queries and answers of 64 bytes against a tiny backend, so that nearly all the cost is the proxy's.
import type { Lab } from '../lab.ts';
import type { Measured } from '../load.ts';
import { type Peer, watched } from '../peers/peer.ts';
import type { Sample } from '../sample.ts';

const CONNECTIONS = [1, 8, 64, 512];
/** Long enough for the JIT compiler. */
const WARM_S = 2;

export async function pingPong(lab: Lab): Promise<readonly Sample[]> {
  const { options, load } = lab;
  const { port, child } = await load.backend();
  await using backend = child;
  await using peers = await lab.peers(port);
  const warm = { connections: 32, warm: 0, seconds: WARM_S };
  for (const peer of peers.list)
    if (peer.pid !== undefined) await load.measure('ping-pong', { port: peer.port, ...warm });
  const samples: Sample[] = [];
  for (const connections of options.connections ?? CONNECTIONS) {
    // With one session, waking another core costs more than any proxy. On one core the proxies are the main cost.
    await lab.place(connections === 1 ? 'together' : 'apart', peers.list, [backend.pid]);
    const measure = async (peer: Peer) => figures(await ask(lab, peer, connections), peer);
    samples.push(...(await lab.inTurn('ping-pong', connectionsText(connections), peers.list, measure)));
  }
  return samples;
}

async function ask({ load, options }: Lab, peer: Peer, connections: number): Promise<Measured> {
  return load.measure('ping-pong', { port: peer.port, connections, seconds: options.seconds, watch: watched(peer) });
}

function figures(measured: Measured, peer: Peer): Readonly<Record<string, number>> {
  const cpu = peer.pid === undefined ? {} : { 'CPU per round trip, µs': measured.cpuUs / measured.done };
  return {
    ...cpu,
    'round trips per s': measured.done / measured.seconds,
    'latency p50, µs': measured.p50Us,
    'latency p99, µs': measured.p99Us,
    'latency p99.9, µs': measured.p999Us,
  };
}

export function connectionsText(count: number): string {
  return count === 1 ? '1 connection' : `${count} connections`;
}

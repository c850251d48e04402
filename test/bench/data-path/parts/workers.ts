// Two workers against one in the same ping-pong with 512 sessions: unlimited, and with a part of a core for each thread
// of Pointsman, so that the load program and the backend are not the limit on two cores.
import type { Figures, Lab } from '../lab.ts';
import type { Variant } from '../options.ts';
import { type Peer, familyOfPeer, watched } from '../peers/peer.ts';
import type { Sample } from '../sample.ts';
import { throttle, whyNoThrottle } from '../throttle.ts';

const SESSIONS = 512;
const CORE_SHARE = 0.3;
const OTHERS = ['direct', 'haproxy', 'pgbouncer', 'floor'] as const;

export async function workers(lab: Lab): Promise<readonly Sample[]> {
  const [own] = lab.options.variants.values();
  if (own === undefined) return [];
  const { port, child } = await lab.load.backend();
  await using backend = child;
  const withWorkers = (count: number): Variant => ({ ...own, config: { ...own.config, workers: count } });
  const variants = new Map([1, 2].map((count) => [`workers: ${count}`, withWorkers(count)]));
  const why = await whyNoWorkers(lab, port, variants);
  if (why !== undefined) {
    lab.tell(`workers: not measured: ${why}`);
    return [];
  }
  const samples: Sample[] = [];
  {
    await using peers = await lab.peers(port, { without: OTHERS, variants });
    await lab.place('none', peers.list, [backend.pid]);
    const measure = (peer: Peer) => ask(lab, peer);
    for (const peer of peers.list) await measure(peer);
    samples.push(...(await lab.inTurn('workers', 'as they are', peers.list, measure)));
  }
  const missing = whyNoThrottle();
  if (missing !== undefined) {
    lab.tell(`workers with a part of a core each: not measured, it needs ${missing}`);
    return samples;
  }
  using groups = new DisposableStack();
  await using peers = await lab.peers(port, { without: OTHERS, variants });
  for (const peer of peers.list) await ask(lab, peer);
  for (const peer of peers.list) groups.use(throttle(familyOfPeer(peer), CORE_SHARE));
  const scene = `${CORE_SHARE * 100} % of a core each`;
  samples.push(...(await lab.inTurn('workers', scene, peers.list, (peer) => ask(lab, peer))));
  return samples;
}

/** A checkout may lack the setting `workers`. */
async function whyNoWorkers(
  lab: Lab,
  port: number,
  variants: ReadonlyMap<string, Variant>,
): Promise<string | undefined> {
  try {
    await using peers = await lab.peers(port, { without: OTHERS, variants });
    void peers;
    return undefined;
  } catch (error) {
    return /.*workers: .*/.exec(String(error))?.[0] ?? String(error);
  }
}

async function ask({ load, options }: Lab, peer: Peer): Promise<Figures> {
  const given = { port: peer.port, connections: SESSIONS, seconds: options.seconds, watch: watched(peer) };
  const measured = await load.measure('ping-pong', given);
  return {
    'CPU per round trip, µs': measured.cpuUs / measured.done,
    'round trips per s': measured.done / measured.seconds,
    'latency p99, µs': measured.p99Us,
  };
}

// Readers that request an endless result and read none of it: a proxy must limit the memory that it holds for each.
import { setTimeout as delay } from 'node:timers/promises';
import type { Figures, Lab } from '../lab.ts';
import { type Peer, familyOfPeer } from '../peers/peer.ts';
import { residentKb } from '../processes.ts';
import type { Sample } from '../sample.ts';

const READERS = 200;
/** Long enough to show growing memory. */
const WATCH_MS = 5000;

export async function stalled(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend();
  await using backend = child;
  const samples: Sample[] = [];
  for (let round = 1; round <= Math.min(lab.options.rounds, 3); round += 1) {
    await using peers = await lab.peers(port, { without: ['direct'] });
    await lab.place('apart', peers.list, [backend.pid]);
    const once = await lab.inTurn('stalled', `${READERS} stalled readers`, peers.list, (peer) => stall(lab, peer), 1);
    samples.push(...once.map((sample) => ({ ...sample, round })));
  }
  return samples;
}

async function stall(lab: Lab, peer: Peer): Promise<Figures> {
  const { load } = lab;
  await load.measure('ping-pong', { port: peer.port, connections: 32, seconds: 2 });
  const before = await lab.memoryKb(peer);
  await using readers = await load.hold('stalled', { port: peer.port, connections: READERS });
  void readers;
  const after = await lab.memoryKb(peer);
  await delay(WATCH_MS);
  const later = residentKb(familyOfPeer(peer));
  return {
    'memory per reader, kB': (after - before) / READERS,
    'memory per reader 5 s later, kB': (later - before) / READERS,
  };
}

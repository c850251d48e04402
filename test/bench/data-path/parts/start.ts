// The time from spawn to the first accepted connection, and the resident memory of an idle proxy.
import type { Figures, Lab } from '../lab.ts';
import type { Peer } from '../peers/peer.ts';
import type { Sample } from '../sample.ts';

export async function start(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend();
  await using backend = child;
  void backend;
  const samples: Sample[] = [];
  for (let round = 1; round <= lab.options.rounds; round += 1) {
    await using peers = await lab.peers(port, { without: ['direct'] });
    const once = await lab.inTurn('start', 'started and idle', peers.list, (peer) => look(lab, peer), 1);
    samples.push(...once.map((sample) => ({ ...sample, round })));
  }
  return samples;
}

async function look(lab: Lab, peer: Peer): Promise<Figures> {
  const memory = { 'resident memory, MB': (await lab.memoryKb(peer)) / 1024 };
  return peer.startedWithinMs === undefined
    ? memory
    : { 'until it takes connections, ms': peer.startedWithinMs, ...memory };
}

// The time from spawn to the first accepted connection, and the resident memory of an idle proxy. Pointsman without and
// with a compile cache, which its image has.
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../child.ts';
import type { Figures, Lab } from '../lab.ts';
import type { Peer } from '../peers/peer.ts';
import { flagsOf } from '../peers/pointsman-build.ts';
import type { Sample } from '../sample.ts';

export async function start(lab: Lab): Promise<readonly Sample[]> {
  const { port, child } = await lab.load.backend();
  await using backend = child;
  void backend;
  using cache = mkdtempDisposableSync(join(tmpdir(), 'pointsman-compile-cache-'));
  const NODE_COMPILE_CACHE = cache.path;
  const variants = new Map(lab.options.variants);
  for (const [name, variant] of lab.options.variants) {
    const env = { ...variant.env, NODE_COMPILE_CACHE };
    const { main } = await lab.build(variant.checkout ?? '.');
    // Fills it, as the image's build does.
    const args = [...flagsOf(main), ...variant.nodeFlags, main, 'version'];
    await run({ command: variant.node ?? process.execPath, args, env });
    variants.set(`${name}, with a compile cache`, { ...variant, env });
  }
  const samples: Sample[] = [];
  for (let round = 1; round <= lab.options.rounds; round += 1) {
    await using peers = await lab.peers(port, { without: ['direct'], variants });
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

// The short form of the benchmark: Pointsman's processor time per round trip, as a ratio to HAProxy's. Machines are
// noisy, so only a large loss in three tries out of three fails.
import { expect, it } from 'vitest';
import { lossesOf, readBaseline } from '../bench/data-path/baseline.ts';
import { Lab } from '../bench/data-path/lab.ts';
import { whyNoLoad } from '../bench/data-path/load.ts';
import { readOptions } from '../bench/data-path/options.ts';
import { pingPong } from '../bench/data-path/parts/ping-pong.ts';
import { summarise } from '../bench/data-path/sample.ts';
import { tables } from '../bench/data-path/table.ts';
import { findHaproxy } from '../bench/failover/haproxy.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';

const TRIES = 3;

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'Linux (it reads /proc and pins to cores)';
  if (findHaproxy() === undefined) return 'haproxy: apt-get install haproxy';
  return whyNoLoad();
}

describeUnless(whyNot(), 'the data path beside HAProxy', () => {
  it('the ratio of processor time to HAProxy is not much greater than the committed one', async () => {
    const scenes = ['--peers', 'haproxy,pointsman', '--connections', '1,64', '--rounds', '3', '--seconds', '0.7'];
    await using lab = await Lab.open(readOptions(scenes));
    const tries: string[] = [];
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      const lines = summarise(await pingPong(lab));
      const losses = lossesOf(lines, readBaseline());
      if (losses.length === 0) return;
      tries.push(...losses, tables(lines));
    }
    expect.fail(tries.join('\n'));
  });
});

// The host of the primary is alive, and no packet reaches it or comes from it: nothing is refused or reset. A frozen
// process, as in `lost-primary.test.ts`, still has a kernel that takes what it gets.
import { expect } from 'vitest';
import { BOTH_LEGS, describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import { vanishedPackets } from '../../support/moves/vanished-packets.ts';
import { runInOwnNetwork, whyNoOwnNetwork } from '../../support/processes/own-network.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';

const LIMIT_MS = 180_000;
const MAIN = new URL('../../support/moves/vanished-packets-main.ts', import.meta.url).pathname;

describeOnSandbox({ name: 'a primary whose packets vanish', legs: BOTH_LEGS }, (on) => {
  itUnless(
    whyNoOwnNetwork(),
    'G24: idle sessions go on at the next primary, and the others end',
    async () => {
      const found = vanishedPackets.parse(JSON.parse(await runInOwnNetwork(MAIN, LIMIT_MS, on.legs)));
      console.log('packets that vanish:', found);
      expect(found.answers).toEqual(Array.from({ length: 4 }, () => [{ memory: '7MB', server: found.next }]));
      expect(found.ended).toEqual({
        listening: expect.stringContaining('(evicted_demoted)'),
        // A message in the middle of a transaction could be taken for the answer of the server.
        inTransaction: expect.stringContaining('ECONNRESET'),
        recent: expect.stringContaining('(move_uncovered)'),
        inFlight: expect.stringContaining('ECONNRESET'),
        running: expect.stringContaining('ECONNRESET'),
      });
      expect(found.reasons).toEqual([...Array<string>(4).fill('evicted_demoted'), 'move_uncovered']);
      expect([found.fresh, found.left]).toEqual([found.next, 0]);
    },
    LIMIT_MS,
  );
});

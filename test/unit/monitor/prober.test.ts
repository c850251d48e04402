import { expect, test } from 'vitest';
import type { Member } from '../../../src/model/member.ts';
import type { ProbeObservation, ProbeOutcome } from '../../../src/model/observation.ts';
import { Prober } from '../../../src/monitor/prober.ts';
import { aCheck, aMember, WRITE_CHECK } from '../../support/values/builders.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const YES: ProbeOutcome = { kind: 'answered', status: 200, body: { role: 'primary', state: 'running' } };

/** A prober of pg-1. The test triggers the answer to its one probe after the member's address became `later`. */
async function movedWhileAsked(later: Member): Promise<readonly ProbeObservation[]> {
  const clock = new ManualClock();
  const answer = Promise.withResolvers<ProbeOutcome>();
  const observations: ProbeObservation[] = [];
  let member = aMember('pg-1');
  let isAsked = false;
  const prober = new Prober({
    member: () => member,
    probe: () => answer.promise,
    timeoutMs: () => 800,
    clock,
    random: () => 0.5,
    nextCheck: () => {
      if (isAsked) return undefined;
      isAsked = true;
      return aCheck(WRITE_CHECK);
    },
    intervalMs: () => 1000,
    onObservation: (observation) => observations.push(observation),
  });
  prober.start();
  await clock.advance(1);
  member = later;
  answer.resolve(YES);
  await clock.advance(1);
  prober.stop();
  return observations;
}

test('the answer of a server at an unchanged address is evidence', async () => {
  expect(await movedWhileAsked(aMember('pg-1'))).toMatchObject([{ member: 'pg-1', outcome: YES }]);
});

test.each([
  ['API', aMember('pg-1', { api: { url: 'http://new:8008', address: { host: 'new', port: 8008 } } })],
  ['PostgreSQL', aMember('pg-1', { postgres: { host: 'new', port: 5432 } })],
])(
  'a member whose %s moved during a probe: the old server’s yes is no evidence for the new address',
  async (_, later) => {
    expect(await movedWhileAsked(later)).toEqual([]);
  },
);

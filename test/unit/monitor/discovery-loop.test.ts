import { expect, it } from 'vitest';
import { newRecord } from '../../../src/core/snapshot.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { DiscoveryLoop } from '../../../src/monitor/discovery-loop.ts';
import { aMember, aProbePolicy } from '../../support/values/builders.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

it('G4: a vouch comes before the leader of its document, which alone would end sessions by the clock', async () => {
  const clock = new ManualClock();
  const taken: Observation[] = [];
  const list = { kind: 'found', members: [], by: 'pg-2', startedAt: 5, refused: [], scheduledSwitchoverAt: undefined };
  const loop = new DiscoveryLoop({
    probe: () => aProbePolicy({ vouching: true }),
    beforeSwitchoverMs: () => 0,
    discover: () =>
      Promise.resolve({ ...list, kind: 'found', scope: 'lab', leader: { name: 'pg-1', state: 'running' } }),
    clock,
    wallClock: () => clock.now(),
    random: () => 0.5,
    onObservation: (observation) => taken.push(observation),
    onNewList: () => {},
    onTrigger: () => {},
    onEvent: () => {},
  });
  const outcome = { kind: 'failed', cause: 'timeout', detail: 'no answer', postgres: 'accepts' } as const;
  loop.seekVouch({ ...newRecord(aMember('pg-1')), failure: { at: 1, since: 1, outcome, silentProbes: 0 } });
  await clock.advance(1);
  expect(taken.map(({ kind }) => kind)).toEqual(['vouch', 'leader']);
});

// Refused members stay known while no document can be read. The log, the metric and the snapshot share one list.
import { expect, test } from 'vitest';
import type { MonitorEvent } from '../../../src/reports/monitor-events.ts';
import type { MemberRefusal } from '../../../src/model/member.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { DiscoveryLoop } from '../../../src/monitor/discovery-loop.ts';
import { aPolicy } from '../../support/values/builders.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const MEMBER: MemberRefusal = { name: 'pg-9', reason: 'postgres_port', why: 'port 22 is not allowed' };
const SEED: MemberRefusal = { name: 'http://pg1:8008', reason: 'contact_point', why: 'could not be resolved' };

test('a member from the last document stays refused; the refusals of seeds are as new as the read', async () => {
  const clock = new ManualClock();
  const told: (readonly MemberRefusal[])[] = [];
  const observed: unknown[] = [];
  let isFound = true;
  let refused: readonly MemberRefusal[] = [MEMBER];
  const loop = new DiscoveryLoop({
    probe: () => aPolicy().probe,
    beforeSwitchoverMs: () => 0,
    discover: () => {
      const common = { members: [], refused, startedAt: clock.now() };
      return Promise.resolve(
        isFound ? { kind: 'found', by: 'pg-1', ...common } : { kind: 'failed', why: 'nobody answers', ...common },
      );
    },
    clock,
    wallClock: () => 0,
    random: () => 0.5,
    onObservation: (one: Observation) => void (one.kind === 'members' && observed.push(one.refused)),
    onNewList: () => {},
    onTrigger: () => {},
    onEvent: (event: MonitorEvent) => void (event.kind === 'members_refused' && told.push(event.refused)),
  });
  loop.start();
  const step = async (kind: 'found' | 'failed', said: readonly MemberRefusal[]) => {
    [isFound, refused] = [kind === 'found', said];
    await clock.advance(11_000);
    expect(observed.at(-1)).toBe(told.at(-1));
    return told.at(-1);
  };
  await step('found', [MEMBER]);
  expect(await step('failed', [])).toEqual([MEMBER]);
  expect(await step('failed', [SEED])).toEqual([SEED, MEMBER]);
  expect(await step('failed', [])).toEqual([MEMBER]);
  expect(await step('found', [])).toEqual([]);
  expect(told).toHaveLength(4);
  loop.stop();
});

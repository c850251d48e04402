// A server reports in_hot_standby to new sessions while its API reports a primary: which of the two counts.
import { expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aPolicy,
  aTable,
  answered,
  isPrimary,
  isReplica,
  refused,
  routeOf,
  silent,
} from '../../support/values/builders.ts';
import { WRITE_CHECK } from '../../support/values/builders.ts';

const landing = (at: Instant): Observation => ({ kind: 'landing', member: 'pg-1', startedAt: at });
type Instant = number;

/** Whether sessions with in_hot_standby may pass; undefined: no session is routed there. */
function isLetThrough(now: Instant, ...observations: readonly Observation[]): boolean | undefined {
  const route = routeOf(aTable(aPolicy(), now, aList(0, 'pg-1'), ...observations), 'write');
  return route.kind === 'open' ? route.targets[0].isStandbyReportStale === true : undefined;
}

const PROVEN = [isPrimary('pg-1', 100), landing(200), isPrimary('pg-1', 300)] as const;

test.each<[string, boolean | undefined, readonly Observation[]]>([
  ['no session landed', false, [isPrimary('pg-1', 100)]],
  ['no probe since', false, [isPrimary('pg-1', 100), landing(200)]],
  ['a probe at the same instant', false, [isPrimary('pg-1', 100), landing(200), isPrimary('pg-1', 200)]],
  ['a later probe reports the primary', true, PROVEN],
  [
    'a yes that does not name its role',
    false,
    [isPrimary('pg-1', 100), landing(200), answered({ check: WRITE_CHECK, at: 300, body: { timeline: 1 } })],
  ],
  ['another landing after that', true, [...PROVEN, landing(400)]],
  ['its API is silent after that', true, [...PROVEN, silent({ at: 400 })]],
  ['another timeline after that', false, [...PROVEN, isPrimary('pg-1', 400, { timeline: 2 })]],
  ['it was a replica in between', false, [...PROVEN, isReplica('pg-1', 400), isPrimary('pg-1', 500)]],
  ['it refused in between', false, [...PROVEN, refused({ at: 400 }), isPrimary('pg-1', 500)]],
  [
    'it was another cluster’s in between',
    false,
    [...PROVEN, isPrimary('pg-1', 400, { scope: 'other' }), isPrimary('pg-1', 500)],
  ],
  ['a replica', undefined, [...PROVEN, isReplica('pg-1', 400)]],
])('%s: let through %s', (_, expected, observations) => {
  expect(isLetThrough(600, ...observations)).toBe(expected);
});

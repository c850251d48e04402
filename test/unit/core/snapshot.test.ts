// The knowledge of the cluster after a reload and after orders of the operator, and what a record says of its member.
import { describe, expect, test } from 'vitest';
import {
  isAnswering,
  missedProbe,
  withChecks,
  withDrained,
  withMembers,
  withResumed,
  type MemberRecord,
} from '../../../src/core/snapshot.ts';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aMember,
  aPolicy,
  aSnapshot,
  isPrimary,
  isReplica,
  READ_CHECK,
  refused,
  silent,
  WRITE_CHECK,
} from '../../support/values/builders.ts';

const SNAPSHOT = aSnapshot(
  aPolicy(),
  aList(0, 'pg-1', aMember('pg-2', { origin: 'discovered' }), aMember('pg-3', { origin: 'discovered' })),
  isPrimary('pg-1', 0),
  isReplica('pg-2', 0),
);

describe('a new configuration', () => {
  test('takes the answers to checks that no pool has any more, and leaves all else', () => {
    const after = withChecks(SNAPSHOT, new Set([WRITE_CHECK]));
    expect([...after.members.keys()]).toEqual(['pg-1', 'pg-2', 'pg-3']);
    const [before] = SNAPSHOT.members.values();
    const [first] = after.members.values();
    expect([...(before?.checks.keys() ?? [])]).toEqual([WRITE_CHECK, READ_CHECK]);
    expect(first).toEqual({ ...before, checks: new Map([[WRITE_CHECK, before?.checks.get(WRITE_CHECK)]]) });
    expect({ ...after, members: undefined }).toEqual({ ...SNAPSHOT, members: undefined });
  });

  test.each<[string, readonly string[], boolean, readonly string[]]>([
    ['keeps the members that it names', ['pg-1', 'pg-2', 'pg-3'], true, ['pg-1', 'pg-2', 'pg-3']],
    ['keeps discovered members for a while, and no configured one', ['pg-2'], false, ['pg-2', 'pg-3']],
    ['drops all others when the grace is over', ['pg-2'], true, ['pg-2']],
  ])('%s', (_, named, isGraceOver, kept) => {
    const after = withMembers(SNAPSHOT, { named: new Set(named), isGraceOver });
    expect([...after.members.keys()]).toEqual(kept);
    expect(after.members.get('pg-2')).toBe(SNAPSHOT.members.get('pg-2'));
    expect(after.highestTimeline).toBe(1);
  });
});

test('a member is drained since the first time, until it is resumed', () => {
  const twice = withDrained(withDrained(withDrained(SNAPSHOT, 'pg-1', 100), 'pg-2', 150), 'pg-1', 200);
  expect([...twice.drained]).toEqual([
    ['pg-1', 100],
    ['pg-2', 150],
  ]);
  expect([...withResumed(twice, 'pg-1').drained]).toEqual([['pg-2', 150]]);
});

function after(...news: readonly Observation[]): MemberRecord | undefined {
  return aSnapshot(aPolicy(), aList(0, 'pg-1'), ...news).members.get('pg-1');
}

test.each<[string, boolean, boolean, readonly Observation[]]>([
  ['with an answer', true, false, [isPrimary('pg-1', 0)]],
  ['that was not asked', false, false, []],
  ['that never answered', false, true, [silent({ at: 0 })]],
  ['that is silent', false, true, [isPrimary('pg-1', 0), silent({ at: 1000 })]],
  ['that refuses', false, true, [isPrimary('pg-1', 0), refused({ at: 1000 })]],
  ['that could not be asked here', false, false, [isPrimary('pg-1', 0), silent({ at: 1000, cause: 'local' })]],
  ['at whose address is a stranger', false, false, [isPrimary('pg-1', 0), isPrimary('pg-1', 1000, { scope: 'other' })]],
])('a member %s is answering: %s, and has missed a probe: %s', (_, answers, missed, news) => {
  const record = after(...news);
  expect(isAnswering(record)).toBe(answers);
  expect(record && missedProbe(record)).toBe(missed);
});

test('nobody is not answering', () => {
  expect(isAnswering(undefined)).toBe(false);
});

// Both ports of a member refused: a no to every check. An answer to one of them ends its death, and brings it back only
// to the pools of that check.
import { expect, test } from 'vitest';
import {
  aList,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  refused,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const POLICY = aPolicy({ pools: [aWritePool(), aPool()] });
const ROUND = [
  aList(0, 'pg-1', 'pg-2', 'pg-3'),
  isPrimary('pg-1', 0),
  isReplica('pg-2', 0),
  isReplica('pg-3', 0),
] as const;

test('G12: a reader that answers another check is not dead; only the own check brings it back', () => {
  const no = { kind: 'answered', status: 503, body: { role: 'replica', state: 'running' } } as const;
  const says = (at: number) => ({ ...isPrimary('pg-2', at), outcome: no });
  const history = [...ROUND, refused({ member: 'pg-2', at: 1000 })];
  expect(standingIn(aTable(POLICY, 1500, ...history, says(1000)), 'read', 'pg-2')).toBe('leave dead refused');
  history.push(says(2000));
  const lives = aTable(POLICY, 2100, ...history);
  expect([standingIn(lives, 'read', 'pg-2'), openIn(lives, 'read')]).toEqual(['keep never_answered', ['pg-3']]);
  const silentAgain = aTable(POLICY, 20_000, ...history, silent({ member: 'pg-2', at: 3000 }));
  expect(standingIn(silentAgain, 'read', 'pg-2')).toBe('leave silent no_answer');
  const back = aTable(POLICY, 2200, ...history, isReplica('pg-2', 2100));
  expect(openIn(back, 'read')).toEqual(['pg-2', 'pg-3']);
});

test('G12: the same for a primary', () => {
  const other = { ...isReplica('pg-1', 2000), outcome: { kind: 'answered', status: 200, body: undefined } } as const;
  const table = aTable(POLICY, 2100, ...ROUND, refused({ at: 1000 }), other);
  expect([standingIn(table, 'write', 'pg-1'), openIn(table, 'write')]).toEqual(['keep never_answered', []]);
});

test('G4: a primary that died, and another one on a later timeline since: the first leaves at once', () => {
  const other = { ...isReplica('pg-1', 2000), outcome: { kind: 'answered', status: 200, body: undefined } } as const;
  const history = [...ROUND, refused({ at: 1000 }), other, isPrimary('pg-2', 2000, { timeline: 9 })];
  const table = aTable(POLICY, 2100, ...history);
  expect([standingIn(table, 'write', 'pg-1'), openIn(table, 'write')]).toEqual(['leave demoted superseded', ['pg-2']]);
});

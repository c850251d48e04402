// The turns of parked sessions: who is next, by route, limits and rate, and what is left behind.
import { beforeEach, expect, test } from 'vitest';
import type { MovesPolicy } from '../../../../src/model/moves.ts';
import { Turns, type Traveller } from '../../../../src/proxy/moves/turns.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import { aTableOf, type PoolPicture } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const OPEN: PoolPicture = { open: { 'pg-1': { host: '10.0.0.1', port: 5432 } } };

let clock: ManualClock;
let limits: Pick<MovesPolicy, 'concurrent' | 'perSecond'> | undefined;
let picture: PoolPicture;
/** A decision that is due. */
let overdue: () => void;
let turns: Turns;
/** The names of the sessions whose turn came. */
let travelled: string[];

beforeEach(() => {
  clock = new ManualClock();
  [limits, picture, overdue, travelled] = [{ concurrent: 8, perSecond: 1 }, OPEN, () => {}, []];
  const registry = new SessionRegistry();
  registry.learn(['write']);
  turns = new Turns({
    clock,
    table: () => aTableOf({ write: picture }),
    decideIfDue: () => overdue(),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the limits are asked for
    policy: () => limits as MovesPolicy | undefined,
    registry,
  });
});

/** `then`: what else happens at its turn. */
function add(name: string, role: string, then = (): void => {}): Traveller {
  const session = {
    pool: 'write',
    role,
    isWaiting: () => false,
    travel() {
      travelled.push(name);
      then();
    },
  };
  turns.add(session, false);
  return session;
}

test('a role whose last session has ended keeps no other from its turn', () => {
  turns.left(add('ended', 'one'));
  add('next', 'two');
  turns.pump();
  expect(travelled).toEqual(['next']);
});

test('nor does one whose last session has moved', async () => {
  const first = add('first', 'one');
  turns.pump();
  turns.over(first);
  await clock.advance(1_000);
  add('second', 'two');
  turns.pump();
  expect(travelled).toEqual(['first', 'second']);
});

test('a reload changes the rate, and sessions that wait by then move without the section as well', async () => {
  for (const name of ['a', 'b', 'c', 'd']) add(name, 'app');
  turns.pump();
  limits = { concurrent: 8, perSecond: 2 };
  turns.pump();
  await clock.advance(499);
  expect(travelled).toEqual(['d', 'c']);
  await clock.advance(1);
  expect(travelled).toEqual(['d', 'c', 'b']);
  limits = undefined;
  turns.pump();
  expect(travelled).toEqual(['d', 'c', 'b', 'a']);
});

test('the decision that is due comes before a turn', () => {
  add('it', 'app');
  overdue = () => (picture = {});
  turns.pump();
  expect(travelled).toEqual([]);
});

test('a pool that may take no more sessions of its fallback gives no turn', () => {
  add('it', 'app');
  picture = { ...OPEN, fallback: { pool: 'read', maxSessions: 0 } };
  turns.pump();
  expect(travelled).toEqual([]);
  picture = OPEN;
  turns.pump();
  expect(travelled).toEqual(['it']);
});

test('there is one timer at most, and none when nobody waits or it is stopped', async () => {
  const [waits] = [add('waits', 'app'), add('early', 'app', () => turns.pump())];
  turns.pump();
  expect([travelled, clock.pending()]).toEqual([['early'], 1]);
  turns.left(waits);
  turns.pump();
  expect(clock.pending()).toBe(0);
  add('late', 'app');
  turns.pump();
  expect(clock.pending()).toBe(1);
  turns.stop();
  expect(clock.pending()).toBe(0);
  await clock.advance(5_000);
  expect(travelled).toEqual(['early']);
});

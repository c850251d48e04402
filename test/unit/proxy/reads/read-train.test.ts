// The questions that causal reads share, and what each answer means for those that wait.
import { beforeEach, expect, test } from 'vitest';
import type { AskedServer } from '../../../../src/model/causal-reads.ts';
import type { Observation } from '../../../../src/model/observation.ts';
import { ReadTrain, type TrainRead } from '../../../../src/proxy/reads/read-train.ts';
import { FakePositions } from '../../../support/fakes/fake-positions.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../../support/values/builders.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const POLICY = aPolicy();
const KNOWN = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isPrimary('pg-1', 0), isReplica('pg-2', 0)];
const [PRIMARY, REPLICA] = [server('pg-1'), server('pg-2')];

function server(member: string): AskedServer {
  return { member, address: { host: member, port: 5432 } };
}

let perSecond = 1_000;

beforeEach(() => {
  perSecond = 1_000;
});

function aTrain(...history: readonly Observation[]) {
  const clock = new ManualClock();
  const positions = new FakePositions();
  const ended: string[] = [];
  let known: readonly Observation[] = history.length === 0 ? KNOWN : history;
  const train = new ReadTrain({
    positions,
    clock,
    apart: (run) => run(),
    snapshot: () => aSnapshot(POLICY, ...known),
    pools: () => POLICY.pools,
    questions: () => ({ user: 'monitor', passwordFile: undefined, database: 'postgres', perSecond }),
    maxAgeMs: () => 1_000_000,
  });
  const add = (at = REPLICA, then = (): void => {}, shared?: TrainRead['shared']): TrainRead => {
    const arrived = positions.newestQuestion();
    const read = {
      server: at,
      connected: 0,
      arrived,
      ...(shared && { shared }),
      since: clock.now(),
      onYes(how: string) {
        then();
        ended.push(how);
      },
    };
    train.add(read);
    return read;
  };
  const learn = async (...news: readonly Observation[]): Promise<void> => {
    known = [...known, ...news];
    train.tableChanged();
    await clock.advance(0);
  };
  return { clock, positions, train, ended, add, learn };
}

test('a session at the primary is free once it was asked since the connect; one at a replica never is', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  expect(train.isFree({ server: PRIMARY, connected: 0, arrived: 0 })).toBe(false);
  positions.replayed.set('pg-2', 100);
  add();
  await clock.advance(1);
  expect(ended).toEqual(['at_once']);
  expect(train.isFree({ server: PRIMARY, connected: 0, arrived: 5 })).toBe(true);
  expect(train.isFree({ server: PRIMARY, connected: 5, arrived: 5 })).toBe(false);
  expect(train.isFree({ server: REPLICA, connected: 0, arrived: positions.newestQuestion() })).toBe(false);
});

test('without a proven primary nobody is free, and nobody is asked', async () => {
  const { clock, positions, train, add } = aTrain(aList(0, 'pg-1', 'pg-2'), isReplica('pg-2', 0));
  expect(train.isFree({ server: PRIMARY, connected: 0, arrived: 0 })).toBe(false);
  const read = add();
  await clock.advance(1_000);
  expect(positions.asked).toEqual({ primary: 0, replica: 0 });
  expect(train.wait(read)).toMatchObject({ why: 'primary_unproven', primary: undefined, word: undefined });
});

test('a read whose replica was behind has waited', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  positions.replayed.set('pg-2', 40);
  const read = add();
  await clock.advance(1);
  expect(train.wait(read)).toMatchObject({ why: 'behind', primary: 'pg-1', behindBytes: 60 });
  expect(ended).toEqual([]);
  positions.replayed.set('pg-2', 100);
  await positions.askReplica(REPLICA);
  expect(train.wait(read)).toMatchObject({ why: 'unasked', behindBytes: 0 });
  await clock.advance(10);
  expect(ended).toEqual(['waited']);
});

test('the primary is asked once for a read whose replica has not reported the timeline', async () => {
  const { clock, positions, train, add, learn } = aTrain(aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0));
  const read = add();
  await clock.advance(1);
  for (let round = 0; round < 3; round += 1) await learn();
  expect(train.wait(read).why).toBe('timeline_unknown');
  expect(positions.asked).toEqual({ primary: 1, replica: 0 });
});

test.each([
  ['the next primary', 'pg-3'],
  ['the same member on the next timeline', 'pg-1'],
])('the word that counts is that of the proven primary: %s is asked', async (_, next) => {
  const { clock, positions, train, ended, add, learn } = aTrain();
  positions.replayed.set('pg-2', 40);
  const read = add();
  await clock.advance(1);
  expect(train.wait(read)).toMatchObject({ why: 'behind', word: { timeline: 1 } });
  positions.timeline = 2;
  positions.written = 40;
  await learn(isPrimary(next, 1, { timeline: 2 }), isReplica('pg-2', 1, { timeline: 2 }));
  await clock.advance(20);
  expect(positions.asked.primary).toBe(2);
  expect(ended).toEqual(['waited']);
});

test('behind the stop no answer and no timer does anything', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  const { promise, resolve } = Promise.withResolvers<void>();
  positions.replayed.set('pg-2', 100);
  positions.delay = promise;
  add();
  train.stop();
  resolve();
  await clock.advance(1_000);
  expect(ended).toEqual([]);
  const other = aTrain();
  other.add();
  await other.clock.advance(5);
  other.train.stop();
  const asked = { ...other.positions.asked };
  await other.clock.advance(1_000);
  expect(other.positions.asked).toEqual(asked);
});

test('a server that does not answer is left alone for 50 ms, and its words are those of the wait', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  positions.faults.set('pg-1', 'too many clients');
  positions.replayed.set('pg-2', 100);
  await positions.askReplica(REPLICA);
  const read = add();
  await clock.advance(49);
  expect(positions.asked.primary).toBe(1);
  expect(train.wait(read)).toMatchObject({ word: undefined, behindBytes: undefined });
  expect(train.wait(read).unanswered.get('pg-1')).toBe('too many clients');
  positions.faults.clear();
  await clock.advance(2);
  expect([positions.asked.primary, ended]).toEqual([2, ['at_once']]);
  expect(train.wait(read).unanswered.size).toBe(0);
});

test('a session elsewhere would see what a read must see when its server has shown that much', async () => {
  const { clock, positions, train, add, learn } = aTrain(...KNOWN, isReplica('pg-3', 0));
  positions.replayed.set('pg-2', 40);
  positions.replayed.set('pg-3', 100);
  const read = add();
  const covers = train.coversOf(read);
  expect(covers(server('pg-3'))).toBe(false);
  await clock.advance(1);
  const later = train.coversOf(read);
  expect([later(PRIMARY), later(REPLICA), later(server('pg-3'))]).toEqual([true, false, false]);
  await positions.askReplica(server('pg-3'));
  expect(later(server('pg-3'))).toBe(true);
  await learn(isReplica('pg-1', 1, { timeline: 2 }));
  expect([later(PRIMARY), later(server('pg-3'))]).toEqual([false, false]);
});

test('a read that has left the train hears nothing, also when it leaves by the end of another one', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  positions.replayed.set('pg-2', 100);
  train.remove(add());
  const others: TrainRead[] = [];
  add(REPLICA, () => {
    for (const other of others) train.remove(other);
  });
  others.push(add());
  await clock.advance(10);
  expect(ended).toEqual(['at_once']);
});

test('the primary is asked no more often than the setting says', async () => {
  perSecond = 2;
  const { clock, positions, ended, add } = aTrain();
  positions.replayed.set('pg-2', 100);
  for (let round = 0; round < 100; round += 1) {
    add();
    await clock.advance(10);
  }
  expect(positions.asked.primary).toBeLessThanOrEqual(3);
  await clock.advance(1_000);
  expect(ended).toHaveLength(100);
});

test('while the primary writes, replicas are asked beside it', async () => {
  const { clock, positions, ended, add } = aTrain();
  positions.replayed.set('pg-2', 1_000);
  for (positions.written = 100; positions.written < 103; positions.written += 1) {
    add();
    await clock.advance(20);
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  positions.delay = promise;
  const before = positions.asked.replica;
  add();
  await clock.advance(1);
  expect(positions.asked.replica).toBe(before + 1);
  resolve();
  await clock.advance(20);
  expect(ended).toHaveLength(4);
});

test('a flush that stands still is asked for, not twice in 50 ms, and one that goes on is not', async () => {
  const { clock, positions, add } = aTrain();
  [positions.written, positions.flushed] = [200, 60];
  add();
  await clock.advance(60);
  expect(positions.nudges).toBe(1);
  await clock.advance(140);
  expect(positions.nudges).toBeGreaterThan(1);
  expect(positions.nudges).toBeLessThanOrEqual(4);
  const before = positions.nudges;
  for (let round = 0; round < 10; round += 1) {
    positions.flushed += 5;
    await clock.advance(20);
  }
  expect(positions.nudges).toBe(before);
});

test('where all is flushed the primary is asked once for a read that waits', async () => {
  const { clock, positions, add } = aTrain();
  add();
  await clock.advance(1_000);
  expect([positions.asked.primary, positions.nudges]).toEqual([1, 0]);
});

test('a replica that does not answer is named, and asked again', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  positions.faults.set('pg-2', 'no route to host');
  positions.replayed.set('pg-2', 100);
  const read = add();
  await clock.advance(40);
  expect([positions.asked.replica, train.wait(read).unanswered.get('pg-2')]).toEqual([1, 'no route to host']);
  positions.faults.clear();
  await clock.advance(60);
  expect(ended).toHaveLength(1);
});

test('reads with one demand share the first word: later ones are free, however far the primary goes on', async () => {
  const { clock, positions, train, ended, add } = aTrain();
  const shared = { word: undefined };
  positions.replayed.set('pg-2', 100);
  const read = { server: REPLICA, connected: 0, arrived: 0, shared };
  expect(train.isFree(read)).toBe(false);
  add(REPLICA, () => {}, shared);
  await clock.advance(10);
  expect(ended).toEqual(['at_once']);
  positions.written = 200;
  await positions.askPrimary(PRIMARY);
  expect(train.isFree(read)).toBe(true);
  expect(train.isFree({ ...read, shared: { word: undefined } })).toBe(false);
  // Another session may have begun at a server that was restarted meanwhile.
  expect(train.isFree({ ...read, connected: positions.newestQuestion() })).toBe(false);
});

test('a read at the primary needs less than those that share its word, and gives them none', async () => {
  const { clock, positions, train, add } = aTrain();
  const shared = { word: undefined };
  add();
  await clock.advance(1);
  expect(train.isFree({ server: PRIMARY, connected: 0, arrived: 9, shared })).toBe(true);
  expect(shared.word).toBeUndefined();
  positions.replayed.set('pg-2', 100);
  await positions.askReplica(REPLICA);
  expect(train.isFree({ server: REPLICA, connected: 0, arrived: 9, shared })).toBe(false);
});

test('a word from before a read must see more does not count for it', async () => {
  const { positions, train } = aTrain();
  const word = await positions.askPrimary(PRIMARY);
  if ('why' in word) throw new Error(word.why);
  positions.replayed.set('pg-2', 100);
  await positions.askReplica(REPLICA);
  const shared = { word };
  expect(train.isFree({ server: REPLICA, connected: 0, arrived: word.question - 1, shared })).toBe(true);
  expect(train.isFree({ server: REPLICA, connected: 0, arrived: word.question, shared })).toBe(false);
});

test('a session that has just come to the primary has it asked once more, whatever word its reads share', async () => {
  const { clock, positions, train } = aTrain();
  const word = await positions.askPrimary(PRIMARY);
  if ('why' in word) throw new Error(word.why);
  const ended: string[] = [];
  const shared = { word };
  const onYes = (how: string): void => void ended.push(how);
  train.add({ server: PRIMARY, connected: word.question, arrived: 0, since: clock.now(), shared, onYes });
  await clock.advance(1);
  expect(ended).toEqual(['at_once']);
  expect(positions.asked).toEqual({ primary: 2, replica: 0 });
  expect(shared.word).toBe(word);
});

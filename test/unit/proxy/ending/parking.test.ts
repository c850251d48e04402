// The order in which sessions are parked: the longest idle first, the busy last, some at a time, and nobody waits for
// sessions that do not answer.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Parking } from '../../../../src/proxy/ending/parking.ts';
import type { ParkAnswer, ParkingOptions } from '../../../../src/proxy/ending/parking.ts';
import type { SessionHandle } from '../../../../src/proxy/stage.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const NOW = 100_000;
const LIMIT_MS = 10_000;
const BUSY_AFTER_MS = LIMIT_MS / 2;

interface Fake {
  readonly session: SessionHandle;
  isIdle: boolean;
  /** The server has answered, and the session is idle. */
  becomeIdle(): void;
  listeners(): number;
}

let clock: ManualClock;
let parking: Parking | undefined;
/** Ids, in the order of the questions. */
let asked: number[];
let stayed: number[];
let answers: Map<number, (answer: ParkAnswer) => void>;
/** Undefined: a question is answered by the test. */
let answerAtOnce: ParkAnswer | undefined;

beforeEach(() => {
  clock = new ManualClock(NOW);
  [asked, stayed, answers, answerAtOnce] = [[], [], new Map(), 'gone'];
});

afterEach(() => {
  parking?.stop();
  expect(clock.pending()).toBe(0);
});

function aSession(id: number, idleForMs: number | 'busy'): Fake {
  const listeners = new Set<() => void>();
  const fake: Fake = {
    isIdle: idleForMs !== 'busy',
    becomeIdle(): void {
      fake.isIdle = true;
      for (const run of listeners) run();
    },
    listeners: () => listeners.size,
    session: {
      ...aSessionHandle({
        id,
        isIdle: () => fake.isIdle,
        onIdle(run) {
          listeners.add(run);
          return () => listeners.delete(run);
        },
      }),
      movable: {
        quietSince: () => NOW - (idleForMs === 'busy' ? 0 : idleForMs),
        request() {},
        requestWhenIdle() {},
        abort() {},
        lose: () => false,
        ask() {},
        shown: () => ({ moved: 0 }),
      },
    },
  };
  return fake;
}

/** Idle, but its server says something from time to time. */
function aChatty(id: number): Fake {
  const fake = aSession(id, 10);
  if (fake.session.movable !== undefined) fake.session.movable.quietSince = () => clock.now();
  return fake;
}

function park(
  fakes: readonly Fake[],
  changes: Partial<Pick<ParkingOptions, 'others' | 'waitsForAll' | 'questions'>> = {},
): void {
  parking = new Parking({
    clock,
    sessions: fakes.map(({ session }) => session),
    waitsForAll: true,
    others: [],
    limitMs: LIMIT_MS,
    questions: 16,
    ...changes,
    park(session, onAnswer) {
      asked.push(session.id);
      if (answerAtOnce === undefined) answers.set(session.id, onAnswer);
      else onAnswer(answerAtOnce);
    },
    onStays: ({ id }) => stayed.push(id),
  });
  parking.start();
}

function answer(id: number, found: ParkAnswer = 'gone'): void {
  answers.get(id)?.(found);
}

test('the longest idle is first, and sessions that had an answer in the last second come last', () => {
  park([aSession(1, 20), aSession(2, 5_000), aSession(3, 90_000), aSession(4, 1_000), aSession(5, 999)]);
  expect(asked).toEqual([3, 2, 4, 5, 1]);
});

test.each([4, 16])('%i sessions are asked at a time, and the next one when one has answered', (questions) => {
  answerAtOnce = undefined;
  const sessions = Array.from({ length: 40 }, (_, at) => aSession(at, 50_000 - at));
  park(sessions, { questions });
  expect(asked).toHaveLength(questions);
  answer(3);
  expect(asked.at(-1)).toBe(questions);
  answer(questions);
  expect(asked).toHaveLength(questions + 2);
});

test('a session in a transaction is asked at its next pause, once the idle ones have answered', () => {
  answerAtOnce = undefined;
  const busy = aSession(0, 'busy');
  park([busy, aSession(1, 60_000), aSession(2, 60_000)]);
  busy.becomeIdle();
  answer(1);
  expect(asked).not.toContain(0);
  answer(2);
  expect(asked.at(-1)).toBe(0);
  expect(busy.listeners()).toBe(0);
});

test('busy sessions do not wait long for the last answers of idle ones', async () => {
  answerAtOnce = undefined;
  park([aSession(0, 10), aSession(1, 60_000), aSession(2, 60_000)]);
  answer(2);
  await clock.advance(249);
  expect(asked).not.toContain(0);
  await clock.advance(1);
  expect(asked.at(-1)).toBe(0);
});

test('each of the last answers leaves the rest of that time', async () => {
  answerAtOnce = undefined;
  park([aSession(0, 10), ...[1, 2, 3].map((id) => aSession(id, 60_000))]);
  answer(3);
  await clock.advance(200);
  answer(2);
  await clock.advance(50);
  expect(asked.at(-1)).toBe(0);
});

test('a pause that is over is not used: the session is asked at its next one', () => {
  answerAtOnce = undefined;
  const busy = aSession(0, 'busy');
  park([busy, aSession(1, 60_000)]);
  busy.becomeIdle();
  busy.isIdle = false;
  answer(1);
  expect(asked).not.toContain(0);
  busy.becomeIdle();
  expect(asked.at(-1)).toBe(0);
});

test('when idle sessions do not answer, busy ones are asked all the same, as soon as there is room', async () => {
  answerAtOnce = undefined;
  const busy = aSession(0, 'busy');
  park([busy, ...Array.from({ length: 40 }, (_, at) => aSession(at + 1, 60_000 - at))]);
  busy.becomeIdle();
  answer(1);
  expect(asked.at(-1)).toBe(17);
  await clock.advance(BUSY_AFTER_MS);
  answer(2);
  expect(asked.at(-1)).toBe(0);
  answer(3);
  expect(asked.at(-1)).toBe(18);
});

test('the end of a long transaction is used before the turn of the busy ones', async () => {
  answerAtOnce = undefined;
  const [long, short] = [aSession(100, 'busy'), aSession(101, 'busy')];
  park([long, short, ...Array.from({ length: 40 }, (_, at) => aSession(at + 1, 60_000 - at))]);
  short.becomeIdle();
  await clock.advance(1_000);
  long.becomeIdle();
  short.becomeIdle();
  answer(1);
  answer(2);
  expect(asked.slice(16)).toEqual([100, 17]);
});

test('busy sessions go on while a long transaction is open, and are asked when it is over', async () => {
  const [long, short] = [aSession(1, 'busy'), aSession(2, 'busy')];
  park([long, short, aSession(3, 10), aSession(4, 60_000)]);
  for (let ms = 0; ms < 3_000; ms += 100) {
    short.becomeIdle();
    short.isIdle = false;
    await clock.advance(100);
  }
  expect(asked).toEqual([4, 3]);
  long.becomeIdle();
  short.becomeIdle();
  await clock.advance(100);
  expect(asked).toEqual([4, 3, 1, 2]);
});

test('a transaction that becomes long later is waited for as well', async () => {
  const [first, second] = [aSession(1, 'busy'), aSession(2, 'busy')];
  park([first, second]);
  second.becomeIdle();
  second.isIdle = false;
  await clock.advance(1_500);
  first.becomeIdle();
  await clock.advance(500);
  expect(asked).toEqual([1]);
  second.becomeIdle();
  await clock.advance(100);
  expect(asked).toEqual([1, 2]);
});

test('busy sessions are asked two seconds before the limit, whatever is open then', async () => {
  const short = aSession(2, 'busy');
  park([aSession(1, 'busy'), short]);
  await clock.advance(LIMIT_MS - 2_001);
  expect(asked).toEqual([]);
  short.isIdle = true;
  await clock.advance(1);
  expect([asked, clock.pending()]).toEqual([[2], 0]);
});

test('a busy session that has a pause at its turn, and no place, is asked at the first free place', async () => {
  answerAtOnce = undefined;
  park([aChatty(0), ...Array.from({ length: 40 }, (_, at) => aSession(at + 1, 60_000 - at))]);
  await clock.advance(BUSY_AFTER_MS);
  answer(1);
  expect(asked.at(-1)).toBe(0);
});

test('a session that is idle, and whose server still says something, has no long transaction', async () => {
  const long = aSession(1, 'busy');
  park([aChatty(0), long]);
  await clock.advance(1_500);
  expect(asked).toEqual([]);
  long.becomeIdle();
  await clock.advance(100);
  expect(asked).toEqual([1, 0]);
});

test('a session that ends within its long transaction is not waited for', async () => {
  const long = aSession(1, 'busy');
  let state: SessionHandle['state'] = 'relaying';
  Object.defineProperty(long.session, 'state', { get: () => state });
  park([aChatty(0), long]);
  await clock.advance(1_500);
  state = 'closing';
  await clock.advance(100);
  expect(asked).toEqual([0]);
});

test('a session that was busy after all is in a short transaction', () => {
  answerAtOnce = undefined;
  const busy = aSession(1, 60_000);
  park([busy, aChatty(0)]);
  busy.isIdle = false;
  answer(1, 'busy');
  expect(asked).toEqual([1, 0]);
});

test('a session that ends during its question has no other pause', () => {
  answerAtOnce = undefined;
  const ends = aSession(1, 60_000);
  park([ends]);
  Object.defineProperty(ends.session, 'state', { value: 'closed' });
  answer(1, 'busy');
  expect([asked, ends.listeners()]).toEqual([[1], 0]);
});

test('a busy session that goes quiet while a long transaction is open is an idle one', async () => {
  const [worked, long] = [aSession(1, 200), aSession(2, 'busy')];
  park([worked, long]);
  await clock.advance(799);
  expect(asked).toEqual([]);
  await clock.advance(1);
  expect(asked).toEqual([1]);
  expect(worked.listeners()).toBe(0);
});

test('a session that goes quiet while it waits for a free place is asked once', async () => {
  answerAtOnce = undefined;
  const [worked, long] = [aSession(100, 'busy'), aSession(101, 'busy')];
  // The place that is free at the end of its long transaction is taken by another one.
  park([worked, long, ...Array.from({ length: 16 }, (_, at) => aSession(at + 1, 60_000 - at))]);
  await clock.advance(1_500);
  worked.becomeIdle();
  await clock.advance(LIMIT_MS / 2);
  for (let id = 1; id <= 16; id += 1) answer(id);
  expect(asked.filter((id) => id === 100)).toEqual([100]);
});

test.each(['closing', 'closed'] as const)('busy sessions go on while one that does not move is not %s', async (end) => {
  const other: { state: SessionHandle['state'] } = { state: 'relaying' };
  park([aSession(1, 10)], { others: [other] });
  await clock.advance(800);
  expect(asked).toEqual([]);
  other.state = end;
  await clock.advance(100);
  expect(asked).toEqual([1]);
});

test('busy sessions go on while one that stays has not ended', async () => {
  answerAtOnce = 'stays';
  park([aSession(1, 60_000), aSession(2, 10)]);
  await clock.advance(800);
  expect([asked, stayed]).toEqual([[1], [1]]);
});

test('a server that waits for nobody has its busy sessions asked at once', () => {
  park([aSession(1, 'busy'), aSession(2, 10)], { waitsForAll: false });
  expect(asked).toEqual([2]);
});

test('a session that stays is reported, and one that was busy after all is asked at a pause', async () => {
  answerAtOnce = undefined;
  const [first, second] = [aSession(1, 60_000), aSession(2, 50_000)];
  park([first, second]);
  answer(1, 'stays');
  second.isIdle = false;
  answer(2, 'busy');
  expect([asked, stayed]).toEqual([[1, 2], [1]]);
  second.becomeIdle();
  // The one that stays has not ended.
  await clock.advance(LIMIT_MS);
  expect(asked).toEqual([1, 2, 2]);
});

test('an idle session that goes to work before it is asked counts as busy', () => {
  answerAtOnce = undefined;
  const late = aSession(0, 2_000);
  const others = Array.from({ length: 16 }, (_, at) => aSession(at + 1, 60_000));
  park([late, ...others]);
  late.isIdle = false;
  for (const { session } of others) answer(session.id);
  expect(asked).not.toContain(0);
  late.becomeIdle();
  expect(asked.at(-1)).toBe(0);
});

test('ten thousand sessions that answer at once are no problem', () => {
  answerAtOnce = 'stays';
  park(Array.from({ length: 10_000 }, (_, at) => aSession(at, 60_000)));
  expect(stayed).toHaveLength(10_000);
});

test('after stop() nobody is asked, and no listener is left', () => {
  answerAtOnce = undefined;
  const busy = aSession(0, 'busy');
  park([busy, ...Array.from({ length: 17 }, (_, at) => aSession(at + 1, 60_000 - at))]);
  parking?.stop();
  answer(1, 'stays');
  expect([asked.length, stayed, busy.listeners()]).toEqual([16, [], 0]);
});

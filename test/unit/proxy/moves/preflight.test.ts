// The preflight of the sessions of a member: a limited number of questions at a time, and an end whatever they do.
import { expect, test } from 'vitest';
import type { Movability, PinReason } from '../../../../src/model/moves.ts';
import type { SessionMover } from '../../../../src/proxy/moves/session-mover.ts';
import { preflight } from '../../../../src/proxy/moves/preflight.ts';
import { PREFLIGHT_MS } from '../../../../src/reports/preflight.ts';
import type { SessionState } from '../../../../src/reports/session-state.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

class FakeSession {
  state: SessionState = 'relaying';
  readonly movable: SessionMover | undefined;
  asked = 0;
  readonly #answers: Movability[] = [];
  #onAnswer: ((found: Movability) => void) | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(isMovable = true) {
    const fake: Pick<SessionMover, 'ask'> = { ask: (onAnswer) => this.#ask(onAnswer) };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the preflight only asks
    this.movable = isMovable ? (fake as SessionMover) : undefined;
  }

  onIdle(run: () => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  listeners(): number {
    return this.#listeners.size;
  }

  becomeIdle(): void {
    for (const run of this.#listeners) run();
  }

  /** Now, or to the next question. */
  answer(found: PinReason | 'movable'): this {
    const answer: Movability = found === 'movable' ? { kind: 'movable' } : { kind: 'pinned', reason: found };
    const onAnswer = this.#onAnswer;
    this.#onAnswer = undefined;
    if (onAnswer === undefined) this.#answers.push(answer);
    else onAnswer(answer);
    return this;
  }

  #ask(onAnswer: (found: Movability) => void): void {
    this.asked += 1;
    const answer = this.#answers.shift();
    if (answer === undefined) this.#onAnswer = onAnswer;
    else onAnswer(answer);
  }
}

test('counts the answers, and the sessions that it cannot ask', async () => {
  const clock = new ManualClock();
  const connecting = new FakeSession();
  connecting.state = 'dialing';
  const sessions = [
    new FakeSession().answer('movable'),
    new FakeSession().answer('listening'),
    new FakeSession().answer('listening'),
    new FakeSession(false),
    connecting,
  ];
  expect(await preflight(sessions, 16, clock)).toEqual({
    movable: 1,
    stays: { unreadable: 1, listening: 2 },
    unknown: 1,
  });
  expect([connecting.asked, clock.pending()]).toEqual([0, 0]);
});

test('no session: an empty answer', async () => {
  expect(await preflight([], 16, new ManualClock())).toEqual({ movable: 0, stays: {}, unknown: 0 });
});

test('a busy session is asked again when it is idle, and is unknown when the time is over', async () => {
  const clock = new ManualClock();
  const [soon, never] = [new FakeSession().answer('busy'), new FakeSession().answer('busy')];
  const counted = preflight([soon, never], 16, clock);
  await clock.advance(100);
  soon.answer('movable').becomeIdle();
  expect(soon.asked).toBe(2);
  await clock.advance(0);
  // The end of another transaction.
  soon.becomeIdle();
  await clock.advance(PREFLIGHT_MS);
  expect(await counted).toEqual({ movable: 1, stays: {}, unknown: 1 });
  expect([soon.asked, never.asked, never.listeners(), clock.pending()]).toEqual([2, 1, 0, 0]);
});

test('the answer is there as soon as the last busy session was asked', async () => {
  const clock = new ManualClock();
  const session = new FakeSession().answer('busy');
  const counted = preflight([session], 16, clock);
  await clock.advance(10);
  session.answer('movable').becomeIdle();
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
  expect(await counted).toEqual({ movable: 1, stays: {}, unknown: 0 });
});

test('sessions that end meanwhile count no more, and nobody waits for them', async () => {
  const clock = new ManualClock();
  const [asked, busy, late, before] = [
    new FakeSession(),
    new FakeSession().answer('busy'),
    new FakeSession(),
    new FakeSession(),
  ];
  before.state = 'closing';
  const counted = preflight([asked, busy, late, before, new FakeSession().answer('movable')], 16, clock);
  await clock.advance(1_000);
  late.state = 'closed';
  late.answer('busy');
  asked.state = 'closed';
  busy.state = 'closing';
  let isOver = false;
  void counted.then(() => (isOver = true));
  await clock.advance(200);
  expect([isOver, before.asked, busy.listeners(), clock.pending()]).toEqual([true, 0, 0, 0]);
  expect(await counted).toEqual({ movable: 1, stays: {}, unknown: 0 });
});

test('a session that ends makes room for the next question', async () => {
  const clock = new ManualClock();
  const sessions = Array.from({ length: 17 }, () => new FakeSession());
  const [first, last] = [sessions[0], sessions.at(-1)];
  void preflight(sessions, 16, clock);
  await clock.advance(1);
  expect(last?.asked).toBe(0);
  if (first !== undefined) first.state = 'closed';
  await clock.advance(200);
  expect(last?.asked).toBe(1);
  // A late answer of the session that has ended.
  first?.answer('movable');
  await clock.advance(PREFLIGHT_MS);
});

test.each([4, 16])('%i questions are under way at a time, and a late answer changes nothing', async (questions) => {
  const clock = new ManualClock();
  const sessions = Array.from({ length: 40 }, () => new FakeSession());
  const counted = preflight(sessions, questions, clock);
  await clock.advance(1);
  const asked = (): number => sessions.filter((session) => session.asked > 0).length;
  expect(asked()).toBe(questions);
  for (const session of sessions.slice(0, 4)) session.answer('movable');
  await clock.advance(1);
  expect(asked()).toBe(questions + 4);
  await clock.advance(PREFLIGHT_MS);
  expect(await counted).toEqual({ movable: 4, stays: {}, unknown: 36 });
  sessions[5]?.answer('movable');
  await clock.advance(1);
  expect(asked()).toBe(questions + 4);
});

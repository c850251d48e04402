import { expect, test } from 'vitest';
import { WhenIdle } from '../../../../src/proxy/ending/when-idle.ts';
import type { SessionHandle } from '../../../../src/proxy/stage.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

class FakeSession implements Pick<SessionHandle, 'isIdle' | 'settlesInMs' | 'onIdle'> {
  idle: boolean;
  settledAt = -Infinity;
  readonly #listeners = new Set<() => void>();

  constructor(idle: boolean) {
    this.idle = idle;
  }

  isIdle(): boolean {
    return this.idle;
  }

  settlesInMs(): number {
    return Math.max(0, this.settledAt - clock.now());
  }

  onIdle(run: () => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  listeners(): number {
    return this.#listeners.size;
  }

  becomeIdle(): void {
    this.idle = true;
    for (const run of this.#listeners) run();
  }
}

const clock = new ManualClock();
let ended: string[] = [];

function handleOf(session: FakeSession): SessionHandle {
  return aSessionHandle({
    isIdle: () => session.isIdle(),
    settlesInMs: () => session.settlesInMs(),
    onIdle: (run) => session.onIdle(run),
  });
}

function endWhenIdle(whenIdle: WhenIdle, session: FakeSession, name = 'it'): () => void {
  return whenIdle.run(handleOf(session), () => {
    session.idle = false;
    ended.push(name);
  });
}

test('an idle session ends synchronously, a busy one when it is idle, each once', () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 50);
  const busy = new FakeSession(false);
  endWhenIdle(whenIdle, new FakeSession(true), 'idle');
  endWhenIdle(whenIdle, busy, 'busy');
  expect(ended).toEqual(['idle']);
  busy.becomeIdle();
  expect(ended).toEqual(['idle', 'busy']);
});

test('a session that stays is asked once, and its idle moments are not listened to any more', () => {
  const whenIdle = new WhenIdle(clock, 50);
  const session = new FakeSession(false);
  let asked = 0;
  whenIdle.run(handleOf(session), () => (asked += 1));
  for (let round = 0; round < 3; round += 1) session.becomeIdle();
  expect([asked, session.listeners()]).toEqual([1, 0]);
});

test('a cancelled end does not run', () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 50);
  const session = new FakeSession(false);
  const cancel = endWhenIdle(whenIdle, session);
  cancel();
  cancel();
  session.becomeIdle();
  expect(ended).toEqual([]);
});

test('fifty at once, then fifty a second; a session that is busy at its turn waits until it is idle', async () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 50);
  const sessions = Array.from({ length: 53 }, () => new FakeSession(true));
  for (const [index, session] of sessions.entries()) endWhenIdle(whenIdle, session, `${index}`);
  expect(ended.length).toBe(50);
  const next = sessions[50];
  if (next === undefined) throw new Error('no such session');
  next.idle = false;
  await clock.advance(20);
  expect(ended.slice(50)).toEqual(['51']);
  await clock.advance(20);
  expect(ended.slice(50)).toEqual(['51', '52']);
  await clock.advance(20);
  next.becomeIdle();
  expect(ended.at(-1)).toBe('50');
  expect(clock.pending()).toBe(0);
});

test('a new limit applies at once to waiting sessions', async () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 1);
  for (let count = 0; count < 4; count += 1) endWhenIdle(whenIdle, new FakeSession(true), `${count}`);
  expect(ended).toEqual(['0']);
  whenIdle.pace(2);
  expect(ended).toEqual(['0', '1', '2']);
  whenIdle.pace(2);
  await clock.advance(499);
  expect(ended.length).toBe(3);
  await clock.advance(1);
  expect(ended.length).toBe(4);
  expect(clock.pending()).toBe(0);
});

test('after stop() it ends no session and leaves no timer', async () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 50);
  for (let count = 0; count < 51; count += 1) endWhenIdle(whenIdle, new FakeSession(true));
  whenIdle.stop();
  expect(clock.pending()).toBe(0);
  await clock.advance(1_000);
  whenIdle.pace(100);
  expect(ended.length).toBe(50);
});

test('a new session stays until its client has had time for a first statement', async () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 50);
  const [quiet, quick, spared] = [new FakeSession(true), new FakeSession(true), new FakeSession(true)];
  for (const session of [quiet, quick, spared]) session.settledAt = clock.now() + 100;
  endWhenIdle(whenIdle, quiet, 'quiet');
  endWhenIdle(whenIdle, quick, 'quick');
  const cancel = endWhenIdle(whenIdle, spared, 'spared');
  cancel();
  await clock.advance(99);
  expect(ended).toEqual([]);
  quick.idle = false;
  await clock.advance(1);
  expect(ended).toEqual(['quiet']);
  quick.becomeIdle();
  expect(ended).toEqual(['quiet', 'quick']);
  expect(clock.pending()).toBe(0);
});

test('after stop() it leaves no timer for new sessions', () => {
  ended = [];
  const whenIdle = new WhenIdle(clock, 50);
  const session = new FakeSession(true);
  session.settledAt = clock.now() + 100;
  endWhenIdle(whenIdle, session);
  whenIdle.stop();
  expect(clock.pending()).toBe(0);
});

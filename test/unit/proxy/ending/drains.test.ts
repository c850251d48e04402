import { beforeEach, expect, test } from 'vitest';
import { Drains } from '../../../../src/proxy/ending/drains.ts';
import type { Drain } from '../../../../src/proxy/ending/drains.ts';
import type { SessionHandle } from '../../../../src/proxy/stage.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

let clock: ManualClock;
let drains: Drains;
let ended: string[];
let isOver: boolean;
let decide: () => void;

beforeEach(() => {
  clock = new ManualClock();
  decide = () => {};
  drains = new Drains({ clock, decideIfDue: () => decide(), perSecond: 50 });
  ended = [];
  isOver = false;
});

function aSession(pool: string, isIdle: boolean): SessionHandle {
  return aSessionHandle({ pool, isIdle: () => isIdle, end: () => ended.push(pool) });
}

const idle = aSession('idle', true);
const busy = aSession('busy', false);

function aDrain(changes: Partial<Drain> = {}): Drain {
  return {
    key: 'it',
    sessions: () => [idle, busy],
    end: (session) => session.end('shutdown'),
    isOver: () => isOver,
    afterMs: 0,
    limitMs: () => 1_000,
    ...changes,
  };
}

test('idle sessions end at once, the rest at the deadline', async () => {
  drains.start(aDrain({ sessions: () => (ended.length === 0 ? [idle, busy] : [busy]) }));
  expect(ended).toEqual(['idle']);
  await clock.advance(999);
  expect(ended).toEqual(['idle']);
  await clock.advance(1);
  expect(ended).toEqual(['idle', 'busy']);
  expect(clock.pending()).toBe(0);
});

test('a fault in the decision keeps a late drain neither from its start nor from its deadline', async () => {
  decide = () => expect.unreachable('a fault');
  drains.start(aDrain({ sessions: () => [busy], afterMs: 100 }));
  await expect(clock.advance(100)).rejects.toThrow('a fault');
  await expect(clock.advance(1_000)).rejects.toThrow('a fault');
  expect(ended).toEqual(['busy']);
});

test('without a deadline busy sessions stay', async () => {
  drains.start(aDrain({ limitMs: () => undefined }));
  await clock.advance(1_000_000);
  expect(ended).toEqual(['idle']);
});

test('a drain without sessions at its deadline ends nothing more', async () => {
  drains.start(aDrain());
  isOver = true;
  await clock.advance(1_000);
  expect(ended).toEqual(['idle']);
});

test('a later drain reads its limit at its start, and does not start if it is over', async () => {
  let limitMs = 1_000;
  drains.start(aDrain({ key: 'late', afterMs: 500, limitMs: () => limitMs }));
  drains.start(aDrain({ key: 'never', afterMs: 400, sessions: () => [busy], isOver: () => true }));
  await clock.advance(499);
  expect(ended).toEqual([]);
  limitMs = 10;
  await clock.advance(1);
  expect(ended).toEqual(['idle']);
  await clock.advance(10);
  expect(ended).toEqual(['idle', 'idle', 'busy']);
  expect(clock.pending()).toBe(0);
});

test('a drain under the same key replaces the first, also if the decision just before its start adds it', async () => {
  const replacement = aDrain({ sessions: () => [busy], limitMs: () => 100 });
  drains.start(aDrain());
  drains.start(aDrain({ afterMs: 50 }));
  decide = () => drains.start(replacement);
  expect(ended).toEqual(['idle']);
  await clock.advance(50);
  decide = () => {};
  await clock.advance(100);
  expect(ended).toEqual(['idle', 'busy']);
  expect(clock.pending()).toBe(0);
});

test('a review removes finished drains', () => {
  drains.start(aDrain({ sessions: () => [busy] }));
  drains.review();
  expect(clock.pending()).toBe(1);
  isOver = true;
  drains.review();
  expect([clock.pending(), ended]).toEqual([0, []]);
});

test('an immediate end replaces a drain', () => {
  drains.start(aDrain({ sessions: () => [busy] }));
  drains.endNow(aDrain());
  expect([clock.pending(), ended]).toEqual([0, ['idle', 'busy']]);
});

test('after stop() it leaves no timer', () => {
  drains.start(aDrain());
  drains.start(aDrain({ key: 'late', afterMs: 500 }));
  drains.stop();
  expect(clock.pending()).toBe(0);
});

test('sessions that may move are parked instead, and those that stay end at the pace of the drain', async () => {
  const movable = {
    quietSince: () => 0,
    request() {},
    requestWhenIdle() {},
    abort() {},
    lose: () => false,
    ask() {},
    shown: () => ({ moved: 0 }),
  };
  const [gone, stays] = [
    { ...aSession('gone', true), movable },
    { ...aSession('stays', true), movable },
  ];
  drains.pace(1);
  drains.start(
    aDrain({
      sessions: () => [gone, stays, idle],
      parking: {
        waitsForAll: true,
        waitMs: 1_000,
        questions: 16,
        park: (session, onAnswer) => onAnswer(session === gone ? 'gone' : 'stays'),
        onStays: (session) => session.end('shutdown'),
      },
      limitMs: () => 10_000,
    }),
  );
  expect(ended).toEqual(['idle']);
  await clock.advance(1_000);
  expect(ended).toEqual(['idle', 'stays']);
  drains.stop();
  expect(clock.pending()).toBe(0);
});

test('a prompt drain ends its idle sessions in a quarter of its limit, whatever the limit per second', async () => {
  const many = Array.from({ length: 1000 }, () => idle);
  drains.start(aDrain({ sessions: () => many, isPrompt: true, limitMs: () => 4_000 }));
  await clock.advance(1_000);
  expect(ended.length).toBe(1000);
  drains.review();
  expect(clock.pending()).toBe(1);
  drains.stop();
  expect(clock.pending()).toBe(0);
});

import { beforeEach, describe, expect, test } from 'vitest';
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
  expect([ended, clock.pending()]).toEqual([['idle'], 0]);
});

test('a drain that is over at its start or at its deadline ends nothing more, and is forgotten', async () => {
  drains.start(aDrain({ member: 'pg-1' }));
  drains.start(aDrain({ key: 'late', member: 'pg-2', afterMs: 500, isOver: () => true }));
  expect([drains.isClearing('pg-1'), drains.isClearing('pg-2')]).toEqual([true, true]);
  isOver = true;
  await clock.advance(999);
  expect([drains.isClearing('pg-1'), drains.isClearing('pg-2')]).toEqual([true, false]);
  await clock.advance(1);
  expect([ended, drains.isClearing('pg-1')]).toEqual([['idle'], false]);
});

test('a member is being cleared while a drain of it has sessions', () => {
  let sessions = [busy];
  drains.start(aDrain({ member: 'pg-1', sessions: () => sessions }));
  drains.start(aDrain({ key: 'of no member', sessions: () => [busy] }));
  drains.start(aDrain({ key: 'other', member: 'pg-3', sessions: () => [] }));
  const cleared = () => ['pg-1', 'pg-2', 'pg-3'].map((member) => drains.isClearing(member));
  expect(cleared()).toEqual([true, false, false]);
  sessions = [];
  expect(cleared()).toEqual([false, false, false]);
  sessions = [busy];
  drains.stop();
  expect(cleared()).toEqual([false, false, false]);
});

test('a full member hurries its drains that have not begun, and no other', async () => {
  const decided: number[] = [];
  decide = () => decided.push(clock.now());
  const late = { afterMs: 500, limitMs: () => undefined };
  drains.start(aDrain({ ...late, member: 'pg-1', sessions: () => [idle] }));
  drains.start(aDrain({ ...late, key: 'other', member: 'pg-2', sessions: () => [aSession('other', true)] }));
  drains.start(aDrain({ key: 'begun', member: 'pg-1', sessions: () => [busy] }));
  const now = clock.now();
  drains.hurry('pg-1');
  drains.hurry('pg-1');
  expect([ended, decided]).toEqual([['idle'], [now]]);
  await clock.advance(500);
  expect([ended, decided]).toEqual([
    ['idle', 'other'],
    [now, now + 500],
  ]);
});

test('drains share their pace, and one that ends leaves the others theirs', async () => {
  const [one, two, three] = ['one', 'two', 'three'].map((name) => aSession(name, true));
  drains.pace(1);
  drains.start(aDrain({ sessions: () => [one ?? idle, two ?? idle], limitMs: () => 60_000 }));
  drains.start(aDrain({ key: 'other', sessions: () => [three ?? idle], limitMs: () => 60_000, isOver: () => false }));
  expect(ended).toEqual(['one']);
  isOver = true;
  drains.review();
  await clock.advance(1_000);
  expect(ended).toEqual(['one', 'three']);
});

test('no session ends by itself after stop()', async () => {
  drains.pace(1);
  for (const name of ['one', 'two']) drains.whenIdle(aSession(name, true), () => ended.push(name));
  drains.stop();
  expect(clock.pending()).toBe(0);
  await clock.advance(10_000);
  expect(ended).toEqual(['one']);
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

describe('sessions that may move', () => {
  const movable = {
    quietSince: () => 0,
    request() {},
    requestWhenIdle() {},
    abort() {},
    lose: () => false,
    ask() {},
    shown: () => ({ moved: 0 }),
  };
  const aMovable = (name: string, isIdle = true): SessionHandle => ({ ...aSession(name, isIdle), movable });
  const [gone, stays] = [aMovable('gone'), aMovable('stays')];
  let parked: string[];

  beforeEach(() => {
    parked = [];
  });

  function aParking(changes: Partial<NonNullable<Drain['parking']>> = {}): NonNullable<Drain['parking']> {
    return {
      waitsForAll: true,
      waitMs: 1_000,
      questions: 16,
      park(session, onAnswer) {
        parked.push(session.pool);
        onAnswer(session === stays ? 'stays' : 'gone');
      },
      onStays: (session) => session.end('shutdown'),
      ...changes,
    };
  }

  test('are parked instead, and those that stay end at the pace of the drain', async () => {
    drains.pace(1);
    const moving = { ...aMovable('moving'), state: 'moving' } as const;
    const sessions = () => [gone, stays, idle, moving];
    drains.start(aDrain({ sessions, parking: aParking(), limitMs: () => 10_000 }));
    expect([ended, parked.toSorted()]).toEqual([['idle'], ['gone', 'stays']]);
    await clock.advance(999);
    expect(ended).toEqual(['idle']);
    await clock.advance(1);
    expect(ended).toEqual(['idle', 'moving']);
    await clock.advance(1_000);
    expect(ended).toEqual(['idle', 'moving', 'stays']);
    drains.stop();
    expect(clock.pending()).toBe(0);
  });

  test('end as all others where the drain parks none', () => {
    drains.start(aDrain({ sessions: () => [gone, stays] }));
    expect([ended, parked]).toEqual([['gone', 'stays'], []]);
  });

  test.each([
    ['the wait for transactions', 2_000, () => undefined],
    ['the limit of the drain', 60_000, () => 2_000],
  ])('that are busy wait for a long transaction until the end of %s is near', async (_, waitMs, limitMs) => {
    const short = { ...aSession('short', true), movable: { ...movable, quietSince: () => clock.now() } };
    const sessions = () => [aMovable('long', false), short];
    drains.start(aDrain({ sessions, parking: aParking({ waitMs }), limitMs }));
    await clock.advance(999);
    expect(parked).toEqual([]);
    await clock.advance(1);
    expect(parked).toEqual(['short']);
    drains.stop();
  });

  test('are not waited for where there are none, and not after stop()', () => {
    drains.start(aDrain({ sessions: () => [busy], parking: aParking(), limitMs: () => undefined }));
    expect(clock.pending()).toBe(0);
    drains.start(aDrain({ sessions: () => [busy, aMovable('busy', false)], parking: aParking() }));
    expect(clock.pending()).toBeGreaterThan(1);
    drains.stop();
    expect(clock.pending()).toBe(0);
  });
});

test('a prompt drain ends its idle sessions in a quarter of its limit, whatever the limit per second', async () => {
  const many = Array.from({ length: 1000 }, () => idle);
  drains.start(aDrain({ sessions: () => many, isPrompt: true, limitMs: () => 8_000 }));
  // As many as in a second end at once.
  expect(ended.length).toBe(500);
  await clock.advance(1_000);
  expect(ended.length).toBe(1000);
  drains.review();
  expect(clock.pending()).toBe(1);
  drains.start(aDrain({ sessions: () => many, isPrompt: true, limitMs: () => 8_000 }));
  drains.stop();
  expect(clock.pending()).toBe(0);
});

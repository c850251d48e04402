// The whole process ends its sessions: those with a pause at a pace, those without at the end.
import { beforeEach, expect, test } from 'vitest';
import { Drains } from '../../../../src/proxy/ending/drains.ts';
import { drainAll } from '../../../../src/proxy/ending/shutdown.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import type { SessionHandle } from '../../../../src/proxy/stage.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

let clock: ManualClock;
let registry: SessionRegistry;
let ended: string[];
let isOver: boolean;

beforeEach(() => {
  [clock, registry, ended, isOver] = [new ManualClock(), new SessionRegistry(), [], false];
  registry.learn(['write']);
});

/** `isIdle`: at this moment. It closes as soon as it ends, unless its client takes its time. */
function aSession(name: string, state: SessionHandle['state'], isIdle: () => boolean, closes = true): void {
  const session = aSessionHandle({
    state,
    isIdle,
    end(reason) {
      ended.push(`${name}: ${reason}`);
      if (closes) registry.moved(session, 'startup', 'closed');
    },
  });
  registry.add(session);
}

async function drain(limitMs: number, perSecond = 50): Promise<void> {
  const drains = new Drains({ clock, decideIfDue: () => {}, perSecond: 1 });
  await drainAll({ registry, drains, clock, perSecond }, limitMs);
  isOver = true;
}

test('sessions that wait, that are idle or that are on their way end at once, and busy ones stay', async () => {
  aSession('holding', 'holding', () => false);
  aSession('idle', 'relaying', () => true);
  aSession('parked', 'parked', () => false);
  aSession('moving', 'moving', () => false);
  aSession('busy', 'relaying', () => false);
  const over = drain(10_000);
  expect(ended).toEqual(['holding: shutdown', 'idle: shutdown', 'parked: shutdown', 'moving: shutdown']);
  await clock.advance(9_999);
  expect([ended.length, isOver]).toEqual([4, false]);
  await clock.advance(1);
  await over;
  expect(ended.length).toBe(4);
});

test('it is over with the last session', async () => {
  aSession('idle', 'relaying', () => true);
  await drain(10_000);
  expect([ended, clock.pending()]).toEqual([['idle: shutdown'], 0]);
});

test.each([
  ['a second before the deadline', 10_000, 9_000],
  ['in the middle of a short limit', 1_000, 500],
])('a session that is idle %s ends then, although its pause was not told', async (_, limitMs, atMs) => {
  let isIdle = false;
  aSession('late', 'relaying', () => isIdle);
  aSession('busy', 'relaying', () => false);
  const over = drain(limitMs);
  isIdle = true;
  await clock.advance(atMs - 1);
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect([ended, isOver]).toEqual([['late: shutdown'], false]);
  await clock.advance(limitMs - atMs);
  await over;
});

test.each([
  ['the configured pace', 3, 3],
  ['the pace that ends all of them in time', 1, 2],
])('sessions end at %s', async (_, perSecond, atOnce) => {
  for (let count = 0; count < 20; count += 1) aSession(`${count}`, 'relaying', () => true, false);
  const over = drain(10_000, perSecond);
  expect(ended.length).toBe(atOnce);
  await clock.advance(1_000);
  expect(ended.length).toBe(2 * atOnce);
  await clock.advance(9_000);
  await over;
});

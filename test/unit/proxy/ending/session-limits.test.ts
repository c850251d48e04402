import { expect, test } from 'vitest';
import { Drains } from '../../../../src/proxy/ending/drains.ts';
import { watchLimits } from '../../../../src/proxy/ending/session-limits.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

/** The longest age that the configuration accepts, and the limit of one timer of Node. */
const LONGEST_MS = 2 ** 31 - 1;

function watched(clock: ManualClock, chance: number): { readonly ended: string[]; readonly cancel: () => void } {
  const ended: string[] = [];
  const session = aSessionHandle({ end: (reason) => void ended.push(reason) });
  const drains = new Drains({ clock, decideIfDue: () => {}, perSecond: 50 });
  return {
    ended,
    cancel: watchLimits(session, { maxSessionAgeMs: LONGEST_MS }, { clock, drains, random: () => chance }),
  };
}

test('an age above the limit of one timer ends the session in time, and not before', async () => {
  const clock = new ManualClock();
  const { ended } = watched(clock, 0.75);
  const ageMs = LONGEST_MS * 1.05;
  await clock.advance(Math.floor(ageMs));
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect(ended).toEqual(['too_old']);
  expect(clock.pending()).toBe(0);
});

test('a session that ends before its age leaves no timer', async () => {
  const clock = new ManualClock();
  const { ended, cancel } = watched(clock, 0.75);
  await clock.advance(LONGEST_MS);
  expect(clock.pending()).toBe(1);
  cancel();
  expect([clock.pending(), ended]).toEqual([0, []]);
});

test('the client reads how long its session lasted, and without a limit none is watched', async () => {
  const clock = new ManualClock();
  const drains = new Drains({ clock, decideIfDue: () => {}, perSecond: 50 });
  const details: unknown[] = [];
  const session = aSessionHandle({ end: (_, detail) => details.push(detail) });
  watchLimits(session, { maxSessionAgeMs: undefined }, { clock, drains, random: () => 0.5 });
  expect(clock.pending()).toBe(0);
  watchLimits(session, { maxSessionAgeMs: 60_000 }, { clock, drains, random: () => 0.5 });
  await clock.advance(60_000);
  expect(details).toEqual([expect.stringContaining('the session lasted 60 s; max_session_age is 60 s')]);
});

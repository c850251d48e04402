import { expect, test } from 'vitest';
import { SessionAges } from '../../../../src/proxy/ending/max-age.ts';
import type { Ageing } from '../../../../src/proxy/ending/max-age.ts';
import { WhenIdle } from '../../../../src/proxy/ending/when-idle.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

/** The longest that the configuration takes, and what a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

function watched(clock: ManualClock, chance: number): { readonly ended: string[]; readonly forget: () => void } {
  const ended: string[] = [];
  const session: Ageing = {
    isIdle: () => true,
    settlesInMs: () => 0,
    onIdle: () => () => {},
    end: (reason) => void ended.push(reason),
  };
  const ages = new SessionAges({ clock, whenIdle: new WhenIdle(clock, 50), random: () => chance });
  return { ended, forget: ages.watch(session, LONGEST_MS) };
}

test('an age above what one timer can wait is reached, and not before', async () => {
  const clock = new ManualClock();
  const { ended } = watched(clock, 0.75);
  const ageMs = LONGEST_MS * 1.05;
  await clock.advance(Math.floor(ageMs));
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect(ended).toEqual(['too_old']);
  expect(clock.pending()).toBe(0);
});

test('a session that ends between two of its timers leaves none', async () => {
  const clock = new ManualClock();
  const { ended, forget } = watched(clock, 0.75);
  await clock.advance(LONGEST_MS + 1);
  expect(clock.pending()).toBe(1);
  forget();
  expect([clock.pending(), ended]).toEqual([0, []]);
});

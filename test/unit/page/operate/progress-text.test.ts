import { expect, test } from 'vitest';
import { sessionsText } from '../../../../src/page/operate/progress-text.ts';

const NONE = {
  at_start: 0,
  held: 0,
  waiting: 0,
  longest_wait_ms: 0,
  not_served: 0,
  ended: 0,
  parked: 0,
  moved: 0,
  aborted: 0,
  move_failed: 0,
  cut: 0,
  lost: 0,
};

test.each([
  [{}, '0 clients held, 0 waiting now; 0 sessions ended, 0 cut'],
  [
    { held: 2, waiting: 1, longest_wait_ms: 1_500, ended: 1, cut: 3, lost: 1 },
    '2 clients held, 1 waiting now; the longest wait was 1.5 s; 1 session ended, 3 cut, 1 lost',
  ],
  [{ parked: 9, moved: 4 }, '0 clients held, 0 waiting now; 9 sessions parked, 4 moved; 0 sessions ended, 0 cut'],
  [
    { parked: 1, move_failed: 1 },
    '0 clients held, 0 waiting now; 1 session parked, 0 moved, 1 could not move; 0 sessions ended, 0 cut',
  ],
  [
    { parked: 2, aborted: 1, moved: 2 },
    '0 clients held, 0 waiting now; 2 sessions parked, 1 transaction rolled back, 2 moved; 0 sessions ended, 0 cut',
  ],
])('%j', (sessions, text) => {
  expect(sessionsText({ sessions: { ...NONE, ...sessions } })).toBe(text);
});

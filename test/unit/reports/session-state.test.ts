import { describe, expect, test } from 'vitest';
import { nextSessionState, SESSION_EVENTS, SESSION_STATES } from '../../../src/reports/session-state.ts';
import type { SessionEvent, SessionState } from '../../../src/reports/session-state.ts';

describe('the steps of a session', () => {
  test.each<[SessionState, Partial<Record<SessionEvent, SessionState>>]>([
    ['startup', { hold: 'holding', dial: 'dialing', end: 'closing', close: 'closed' }],
    ['holding', { dial: 'dialing', end: 'closing', close: 'closed' }],
    [
      'dialing',
      {
        hold: 'holding',
        dial: 'dialing',
        answer: 'startup',
        relay: 'relaying',
        end: 'closing',
        close: 'closed',
      },
    ],
    ['relaying', { park: 'parked', end: 'closing', close: 'closed' }],
    ['parked', { move: 'moving', end: 'closing', close: 'closed' }],
    ['moving', { resume: 'relaying', park: 'parked', end: 'closing', close: 'closed' }],
    ['closing', { end: 'closing', close: 'closed' }],
    ['closed', Object.fromEntries(SESSION_EVENTS.map((event) => [event, 'closed']))],
  ])('from %s', (state, steps) => {
    const possible = SESSION_EVENTS.flatMap((event) => {
      const next = nextSessionState(state, event);
      return next === undefined ? [] : [[event, next]];
    });
    expect(Object.fromEntries(possible)).toEqual(steps);
  });

  test('every session state reaches `closed` with a single transition', () => {
    for (const state of SESSION_STATES) expect(nextSessionState(state, 'close')).toBe('closed');
  });

  test('`closed` absorbs', () => {
    for (const event of SESSION_EVENTS) expect(nextSessionState('closed', event)).toBe('closed');
  });

  test('only a dialed session relays, and no dial follows after that', () => {
    expect(SESSION_STATES.filter((state) => nextSessionState(state, 'relay') === 'relaying')).toEqual(['dialing']);
    expect(nextSessionState('relaying', 'dial')).toBeUndefined();
    expect(nextSessionState('relaying', 'hold')).toBeUndefined();
    expect(nextSessionState('relaying', 'answer')).toBeUndefined();
  });

  test('a parked session relays again only after a login', () => {
    expect(SESSION_STATES.filter((state) => nextSessionState(state, 'resume') === 'relaying')).toEqual(['moving']);
    expect(SESSION_STATES.filter((state) => nextSessionState(state, 'move') === 'moving')).toEqual(['parked']);
    expect(nextSessionState('parked', 'resume')).toBeUndefined();
  });
});

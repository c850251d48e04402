// The states of one client connection, as a table. One method in proxy/session.ts makes all transitions.
//
//   startup ──hold──> holding ──dial──> dialing ──relay──> relaying ──close──> closed
//      └──────────────dial──────────────^  └──hold (route lost while dialing)
//      ^────────answer (the backend declined encryption)───┘
//   relaying ──park──> parked ──move──> moving ──resume──> relaying        (the session goes to another server)
//                        ^──park (the next server went away)──┘
//   any of them ──end──> closing (error sent, lingering) ──close──> closed

export const SESSION_STATES = [
  'startup',
  'holding',
  'dialing',
  'relaying',
  'parked',
  'moving',
  'closing',
  'closed',
] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const SESSION_EVENTS = ['hold', 'dial', 'answer', 'relay', 'park', 'move', 'resume', 'end', 'close'] as const;
export type SessionEvent = (typeof SESSION_EVENTS)[number];

const TRANSITIONS: Readonly<Record<SessionState, Partial<Record<SessionEvent, SessionState>>>> = {
  startup: { hold: 'holding', dial: 'dialing', end: 'closing', close: 'closed' },
  holding: { dial: 'dialing', end: 'closing', close: 'closed' },
  dialing: {
    hold: 'holding',
    dial: 'dialing',
    answer: 'startup',
    relay: 'relaying',
    end: 'closing',
    close: 'closed',
  },
  relaying: { park: 'parked', end: 'closing', close: 'closed' },
  // Its client waits, without a backend. It is between two transactions.
  parked: { move: 'moving', end: 'closing', close: 'closed' },
  // It is logged in again, at its next server.
  moving: { resume: 'relaying', park: 'parked', end: 'closing', close: 'closed' },
  closing: { end: 'closing', close: 'closed' },
  closed: {},
};

/** The state after `event`; `closed` stays. Undefined: the table has no such transition, a bug of the caller. */
export function nextSessionState(state: SessionState, event: SessionEvent): SessionState | undefined {
  return state === 'closed' ? state : TRANSITIONS[state][event];
}

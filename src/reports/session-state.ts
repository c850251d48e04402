// The life of one client connection as a table. Only proxy/session.ts moves through it, in one method.
//
//   startup ──hold──> holding ──dial──> dialing ──relay──> relaying ──close──> closed
//      └──────────────dial──────────────^  └──hold (route lost while dialing)
//      ^────────answer (the backend declined encryption)───┘
//   any of them ──refuse──> refusing (error sent, lingering) ──close──> closed

export const SESSION_STATES = ['startup', 'holding', 'dialing', 'relaying', 'refusing', 'closed'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const SESSION_EVENTS = ['hold', 'dial', 'answer', 'relay', 'refuse', 'close'] as const;
export type SessionEvent = (typeof SESSION_EVENTS)[number];

const TRANSITIONS: Readonly<Record<SessionState, Partial<Record<SessionEvent, SessionState>>>> = {
  startup: { hold: 'holding', dial: 'dialing', refuse: 'refusing', close: 'closed' },
  holding: { dial: 'dialing', refuse: 'refusing', close: 'closed' },
  dialing: {
    hold: 'holding',
    dial: 'dialing',
    answer: 'startup',
    relay: 'relaying',
    refuse: 'refusing',
    close: 'closed',
  },
  relaying: { refuse: 'refusing', close: 'closed' },
  refusing: { refuse: 'refusing', close: 'closed' },
  closed: { hold: 'closed', dial: 'closed', answer: 'closed', relay: 'closed', refuse: 'closed', close: 'closed' },
};

/** The state after `event`; undefined when the table has no such step, which is a bug of the caller. */
export function nextSessionState(state: SessionState, event: SessionEvent): SessionState | undefined {
  return TRANSITIONS[state][event];
}

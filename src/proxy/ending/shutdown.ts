// The drain of the whole process. Clients that wait for a route are refused at once; clients that arrive later are
// refused by their own session. The sessions that are idle shortly before the deadline are told then, whatever their
// turn, so that their clients can read the message. The caller cuts the rest at the deadline.
import type { SessionRegistry } from '../session-registry.ts';
import type { Drains } from './drains.ts';

/** Before the deadline. Milliseconds. */
const LAST_MESSAGE_MS = 1_000;

/** `perSecond`: the configured limit, raised to what ends all sessions by the deadline. */
export function drainAll(registry: SessionRegistry, drains: Drains, deadlineMs: number, perSecond: number): void {
  const neededPerSecond = (registry.size() * 1_000) / Math.max(1, deadlineMs);
  drains.pace(Math.max(perSecond, neededPerSecond));
  for (const session of registry.all()) {
    if (session.state === 'holding') session.end('shutdown');
  }
  drains.start({
    key: 'shutdown',
    sessions: () => registry.all(),
    end: (session) => {
      if (session.isIdle()) session.end('shutdown');
    },
    isOver: () => false,
    afterMs: 0,
    limitMs: () => deadlineMs - Math.min(LAST_MESSAGE_MS, deadlineMs / 2),
  });
}
